/* The collective calls of C and C++ programs, blocking and not; and what cannot be replayed. */
#include "record.h"

/* Blocking and non-blocking forms: NAME and its parameters, once without and once with a request. */
#define BOTH(NAME, INAME, WORD, PARAMETERS, ARGUMENTS, PIECES)                    \
  int MPI_##NAME(PARAMETERS) {                                                    \
    Call call = deroute_enter();                                                  \
    int result = PMPI_##NAME(ARGUMENTS);                                          \
    if (deroute_leave(&call, WORD)) {                                             \
      PIECES;                                                                     \
      deroute_done();                                                             \
    }                                                                             \
    return result;                                                                \
  }                                                                               \
  int MPI_##INAME(PARAMETERS, MPI_Request* q) {                                   \
    Call call = deroute_enter();                                                  \
    int result = PMPI_##INAME(ARGUMENTS, q);                                      \
    if (deroute_leave(&call, "i" WORD)) {                                         \
      PIECES;                                                                     \
      deroute_begun(*q, 0, c);                                                    \
      deroute_done();                                                             \
    }                                                                             \
    return result;                                                                \
  }
#define LIST(...) __VA_ARGS__

BOTH(Barrier, Ibarrier, "barrier", LIST(MPI_Comm c), LIST(c), deroute_comm(c))
BOTH(Bcast, Ibcast, "bcast", LIST(void* b, int n, MPI_Datatype t, int root, MPI_Comm c),
     LIST(b, n, t, root, c), deroute_rooted(c, root, n, t))
BOTH(Reduce, Ireduce, "reduce",
     LIST(const void* b, void* d, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
     LIST(b, d, n, t, op, root, c), deroute_rooted(c, root, n, t))

#define SYMMETRIC(NAME, INAME, WORD)                                                  \
  BOTH(NAME, INAME, WORD,                                                             \
       LIST(const void* b, void* d, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),    \
       LIST(b, d, n, t, op, c), deroute_plain(c, n, t))
SYMMETRIC(Allreduce, Iallreduce, "allreduce")
SYMMETRIC(Scan, Iscan, "scan")
SYMMETRIC(Exscan, Iexscan, "exscan")
SYMMETRIC(Reduce_scatter_block, Ireduce_scatter_block, "reduce_scatter_block")

BOTH(Reduce_scatter, Ireduce_scatter, "reduce_scatter",
     LIST(const void* b, void* d, const int n[], MPI_Datatype t, MPI_Op op, MPI_Comm c),
     LIST(b, d, n, t, op, c), deroute_comm(c); deroute_list(n, t, c))

BOTH(Allgather, Iallgather, "allgather",
     LIST(const void* b, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, MPI_Comm c),
     LIST(b, n, t, d, m, u, c), deroute_plain(c, m, u))
BOTH(Alltoall, Ialltoall, "alltoall",
     LIST(const void* b, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, MPI_Comm c),
     LIST(b, n, t, d, m, u, c), deroute_plain(c, m, u))
BOTH(Allgatherv, Iallgatherv, "allgatherv",
     LIST(const void* b, int n, MPI_Datatype t, void* d, const int m[], const int at[],
          MPI_Datatype u, MPI_Comm c),
     LIST(b, n, t, d, m, at, u, c), deroute_comm(c); deroute_list(m, u, c))
BOTH(Alltoallv, Ialltoallv, "alltoallv",
     LIST(const void* b, const int n[], const int from[], MPI_Datatype t, void* d, const int m[],
          const int at[], MPI_Datatype u, MPI_Comm c),
     LIST(b, n, from, t, d, m, at, u, c), deroute_comm(c);
     if (b == MPI_IN_PLACE) deroute_list(m, u, c); else deroute_list(n, t, c))
BOTH(Gather, Igather, "gather",
     LIST(const void* b, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, int root,
          MPI_Comm c),
     LIST(b, n, t, d, m, u, root, c),
     if (deroute_is(c, root)) deroute_rooted(c, root, m, u); else deroute_rooted(c, root, n, t))
BOTH(Scatter, Iscatter, "scatter",
     LIST(const void* b, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, int root,
          MPI_Comm c),
     LIST(b, n, t, d, m, u, root, c),
     if (deroute_is(c, root)) deroute_rooted(c, root, n, t); else deroute_rooted(c, root, m, u))
BOTH(Gatherv, Igatherv, "gatherv",
     LIST(const void* b, int n, MPI_Datatype t, void* d, const int m[], const int at[],
          MPI_Datatype u, int root, MPI_Comm c),
     LIST(b, n, t, d, m, at, u, root, c),
     if (deroute_is(c, root)) deroute_rooted(c, root, m[root], u);
     else deroute_rooted(c, root, n, t))
BOTH(Scatterv, Iscatterv, "scatterv",
     LIST(const void* b, const int n[], const int at[], MPI_Datatype t, void* d, int m,
          MPI_Datatype u, int root, MPI_Comm c),
     LIST(b, n, at, t, d, m, u, root, c),
     if (deroute_is(c, root)) deroute_rooted(c, root, n[root], t);
     else deroute_rooted(c, root, m, u))

/* Calls that move data and cannot be replayed: their number is told. */
#define UNCOVERED(NAME, PARAMETERS, ARGUMENTS)    \
  int MPI_##NAME PARAMETERS {                     \
    Call call = deroute_enter();                  \
    int result = PMPI_##NAME ARGUMENTS;           \
    if (deroute_leave(&call, "nothing")) {        \
      deroute_uncovered("MPI_" #NAME);            \
      deroute_done();                             \
    }                                             \
    return result;                                \
  }
UNCOVERED(Alltoallw,
          (const void* b, const int n[], const int from[], const MPI_Datatype t[], void* d,
           const int m[], const int at[], const MPI_Datatype u[], MPI_Comm c),
          (b, n, from, t, d, m, at, u, c))
UNCOVERED(Put,
          (const void* b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u,
           MPI_Win w),
          (b, n, t, to, at, m, u, w))
UNCOVERED(Get,
          (void* b, int n, MPI_Datatype t, int from, MPI_Aint at, int m, MPI_Datatype u,
           MPI_Win w),
          (b, n, t, from, at, m, u, w))
UNCOVERED(Accumulate,
          (const void* b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u,
           MPI_Op op, MPI_Win w),
          (b, n, t, to, at, m, u, op, w))
UNCOVERED(Neighbor_alltoall,
          (const void* b, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, MPI_Comm c),
          (b, n, t, d, m, u, c))
UNCOVERED(Neighbor_allgather,
          (const void* b, int n, MPI_Datatype t, void* d, int m, MPI_Datatype u, MPI_Comm c),
          (b, n, t, d, m, u, c))
UNCOVERED(Mrecv, (void* b, int n, MPI_Datatype t, MPI_Message* message, MPI_Status* status),
          (b, n, t, message, status))
UNCOVERED(Imrecv, (void* b, int n, MPI_Datatype t, MPI_Message* message, MPI_Request* q),
          (b, n, t, message, q))
