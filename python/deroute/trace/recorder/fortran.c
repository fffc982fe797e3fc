/* The MPI calls of Fortran programs (mpif.h and `use mpi`). Each calls its namesake of the library's
   profiling interface, which is looked for when it is needed: C programs have none. What that calls
   in turn is within a call already, and is not written down a second time. */
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef MPI_Fint Int;
typedef void Buffer;

static void* library(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (!found) {
    fprintf(stderr, "deroute: this MPI has no %s\n", name);
    abort();
  }
  return found;
}

#define COMM MPI_Comm_f2c(*c)
#define TYPE(T) MPI_Type_f2c(*(T))
#define LIST(...) __VA_ARGS__

/* mpi_NAME_ calls pmpi_NAME_; then it is written down. */
#define FORTRAN(NAME, PARAMETERS, ARGUMENTS, WORD, BEFORE, PIECES)      \
  void mpi_##NAME##_(PARAMETERS, Int* error) {                          \
    static void (*real)(PARAMETERS, Int*);                              \
    if (!real) *(void**)&real = library("pmpi_" #NAME "_");             \
    BEFORE;                                                             \
    Call call = deroute_enter();                                        \
    real(ARGUMENTS, error);                                             \
    if (deroute_leave(&call, WORD)) {                                   \
      PIECES;                                                           \
      deroute_done();                                                   \
    }                                                                   \
  }

/* The program starts and ends. */

void mpi_init_(Int* error) {
  void (*real)(Int*);
  *(void**)&real = library("pmpi_init_");
  deroute_enter();
  real(error);
  deroute_begin();
}

void mpi_init_thread_(Int* wanted, Int* given, Int* error) {
  void (*real)(Int*, Int*, Int*);
  *(void**)&real = library("pmpi_init_thread_");
  deroute_enter();
  real(wanted, given, error);
  deroute_begin();
}

void mpi_finalize_(Int* error) {
  void (*real)(Int*);
  *(void**)&real = library("pmpi_finalize_");
  Call call = deroute_enter();
  deroute_end(&call);
  real(error);
}

/* Sends and receives. */

static void sent(const Int* n, const Int* t, const Int* to, const Int* tag, const Int* c) {
  deroute_peer(COMM, *to);
  deroute_bytes(*n, TYPE(t));
  deroute_tag(*tag);
  deroute_comm(COMM);
}

/* A status of Fortran has as many integers as fit into one of C, in both libraries. */
enum { STATUS = sizeof(MPI_Status) / sizeof(Int) };

static void came(const Int* c, const Int* status) {
  MPI_Status s;
  MPI_Status_f2c(status, &s);
  deroute_came(COMM, &s);
}

#define ONE_STATUS Int own[STATUS], *s = status == MPI_F_STATUS_IGNORE ? own : status

#define SEND(NAME, WORD)                                                             \
  FORTRAN(NAME, LIST(Buffer* b, Int* n, Int* t, Int* to, Int* tag, Int* c),          \
          LIST(b, n, t, to, tag, c), WORD, , sent(n, t, to, tag, c))
SEND(send, "send")
SEND(ssend, "ssend")
SEND(rsend, "rsend")
SEND(bsend, "bsend")

#define BEGUN(NAME, WORD, RECEIVE)                                                   \
  FORTRAN(NAME, LIST(Buffer* b, Int* n, Int* t, Int* to, Int* tag, Int* c, Int* q),  \
          LIST(b, n, t, to, tag, c, q), WORD, , sent(n, t, to, tag, c);              \
          deroute_begun(MPI_Request_f2c(*q), RECEIVE && *to != MPI_PROC_NULL, COMM))
BEGUN(isend, "isend", 0)
BEGUN(issend, "issend", 0)
BEGUN(irsend, "irsend", 0)
BEGUN(ibsend, "ibsend", 0)
BEGUN(irecv, "irecv", 1)

FORTRAN(recv, LIST(Buffer* b, Int* n, Int* t, Int* from, Int* tag, Int* c, Int* status),
        LIST(b, n, t, from, tag, c, s), "recv", ONE_STATUS, sent(n, t, from, tag, c); came(c, s))

static void exchanged(const Int* n, const Int* t, const Int* to, const Int* tag, const Int* c) {
  deroute_peer(COMM, *to);
  deroute_bytes(*n, TYPE(t));
  deroute_tag(*tag);
}

FORTRAN(sendrecv,
        LIST(Buffer* b, Int* n, Int* t, Int* to, Int* tag, Buffer* d, Int* m, Int* u, Int* from,
             Int* other, Int* c, Int* status),
        LIST(b, n, t, to, tag, d, m, u, from, other, c, s), "sendrecv", ONE_STATUS,
        exchanged(n, t, to, tag, c); sent(m, u, from, other, c); came(c, s))
FORTRAN(sendrecv_replace,
        LIST(Buffer* b, Int* n, Int* t, Int* to, Int* tag, Int* from, Int* other, Int* c,
             Int* status),
        LIST(b, n, t, to, tag, from, other, c, s), "sendrecv", ONE_STATUS,
        exchanged(n, t, to, tag, c); sent(n, t, from, other, c); came(c, s))

#define INIT(NAME, RECEIVE)                                                          \
  FORTRAN(NAME, LIST(Buffer* b, Int* n, Int* t, Int* to, Int* tag, Int* c, Int* q),  \
          LIST(b, n, t, to, tag, c, q), "nothing", ,                                 \
          deroute_persistent(MPI_Request_f2c(*q), RECEIVE, COMM, *to, *tag, *n, TYPE(t)))
INIT(send_init, 0)
INIT(ssend_init, 0)
INIT(rsend_init, 0)
INIT(bsend_init, 0)
INIT(recv_init, 1)

/* Requests. */

static MPI_Request* handles(const Int* q, Int n) {
  MPI_Request* found = calloc(n > 0 ? n : 1, sizeof *found);
  for (Int i = 0; found && i < n; ++i) found[i] = MPI_Request_f2c(q[i]);
  return found;
}

static MPI_Status* statuses_of(const Int* s, Int n) {
  MPI_Status* found = deroute_statuses(n);
  for (Int i = 0; i < n; ++i) MPI_Status_f2c(s + i * STATUS, &found[i]);
  return found;
}

static void one(MPI_Request before, const Int* status) {
  MPI_Status s;
  MPI_Status_f2c(status, &s);
  deroute_completed(before, &s);
}

static void all(const MPI_Request* before, const Int* statuses, Int n) {
  MPI_Status* s = statuses_of(statuses, n);
  deroute_all(before, s, n);
  free(s);
}

static void some(const MPI_Request* before, const Int* statuses, const Int* which, Int n) {
  if (n == MPI_UNDEFINED) return;
  MPI_Status* s = statuses_of(statuses, n);
  deroute_some(before, s, which, n, 1);
  free(s);
}

#define BEFORE_ONE ONE_STATUS; MPI_Request before = MPI_Request_f2c(*q)
#define BEFORE_MANY                                                  \
  int ignored = statuses == MPI_F_STATUSES_IGNORE;                   \
  MPI_Request* before = handles(q, *n);                              \
  Int* s = ignored ? (Int*)deroute_statuses(*n) : statuses
/* A test that has found nothing is no more than a part of a wait. Lists are freed in any case. */
#define MANY(NAME, PARAMETERS, ARGUMENTS, WORD, BEFORE, FOUND, PIECES, AFTER) \
  void mpi_##NAME##_(PARAMETERS, Int* error) {                         \
    static void (*real)(PARAMETERS, Int*);                             \
    if (!real) *(void**)&real = library("pmpi_" #NAME "_");            \
    BEFORE;                                                            \
    Call call = deroute_enter();                                       \
    real(ARGUMENTS, error);                                            \
    if (!(FOUND)) {                                                    \
      deroute_polled(&call);                                           \
    } else if (deroute_leave(&call, WORD)) {                           \
      PIECES;                                                          \
      deroute_done();                                                  \
    }                                                                  \
    AFTER;                                                             \
  }

#define FREE_ALL free(before); if (ignored) free(s)

FORTRAN(wait, LIST(Int* q, Int* status), LIST(q, s), "wait", BEFORE_ONE, one(before, s))
MANY(test, LIST(Int* q, Int* flag, Int* status), LIST(q, flag, s), "test", BEFORE_ONE, *flag,
     one(before, s), )
MANY(waitall, LIST(Int* n, Int* q, Int* statuses), LIST(n, q, s), "wait", BEFORE_MANY, 1,
     all(before, s, *n), FREE_ALL)
MANY(testall, LIST(Int* n, Int* q, Int* flag, Int* statuses), LIST(n, q, flag, s), "test",
     BEFORE_MANY, *flag, all(before, s, *n), FREE_ALL)
MANY(waitany, LIST(Int* n, Int* q, Int* which, Int* status), LIST(n, q, which, s), "waitany",
     ONE_STATUS; MPI_Request* before = handles(q, *n), 1,
     if (*which != MPI_UNDEFINED) one(before[*which - 1], s), free(before))
MANY(testany, LIST(Int* n, Int* q, Int* which, Int* flag, Int* status),
     LIST(n, q, which, flag, s), "test", ONE_STATUS; MPI_Request* before = handles(q, *n), *flag,
     if (*which != MPI_UNDEFINED) one(before[*which - 1], s), free(before))
MANY(waitsome, LIST(Int* n, Int* q, Int* done, Int* which, Int* statuses),
     LIST(n, q, done, which, s), "waitany", BEFORE_MANY, 1, some(before, s, which, *done),
     FREE_ALL)
MANY(testsome, LIST(Int* n, Int* q, Int* done, Int* which, Int* statuses),
     LIST(n, q, done, which, s), "test", BEFORE_MANY, *done, some(before, s, which, *done),
     FREE_ALL)
FORTRAN(start, LIST(Int* q), LIST(q), NULL, MPI_Request before = MPI_Request_f2c(*q),
        deroute_started(&before, 1))
MANY(startall, LIST(Int* n, Int* q), LIST(n, q), NULL, MPI_Request* before = handles(q, *n), 1,
     deroute_started(before, *n), free(before))
FORTRAN(request_free, LIST(Int* q), LIST(q), "nothing", MPI_Request before = MPI_Request_f2c(*q),
        deroute_forget(before))

/* Collectives. */

#define BOTH(NAME, INAME, WORD, PARAMETERS, ARGUMENTS, PIECES)                     \
  FORTRAN(NAME, LIST(PARAMETERS), LIST(ARGUMENTS), WORD, , PIECES)                 \
  FORTRAN(INAME, LIST(PARAMETERS, Int* q), LIST(ARGUMENTS, q), "i" WORD, , PIECES; \
          deroute_begun(MPI_Request_f2c(*q), 0, COMM))

BOTH(barrier, ibarrier, "barrier", LIST(Int* c), LIST(c), deroute_comm(COMM))
BOTH(bcast, ibcast, "bcast", LIST(Buffer* b, Int* n, Int* t, Int* root, Int* c),
     LIST(b, n, t, root, c), deroute_rooted(COMM, *root, *n, TYPE(t)))
BOTH(reduce, ireduce, "reduce",
     LIST(Buffer* b, Buffer* d, Int* n, Int* t, Int* op, Int* root, Int* c),
     LIST(b, d, n, t, op, root, c), deroute_rooted(COMM, *root, *n, TYPE(t)))

#define SYMMETRIC(NAME, INAME, WORD)                                                          \
  BOTH(NAME, INAME, WORD, LIST(Buffer* b, Buffer* d, Int* n, Int* t, Int* op, Int* c),        \
       LIST(b, d, n, t, op, c), deroute_plain(COMM, *n, TYPE(t)))
SYMMETRIC(allreduce, iallreduce, "allreduce")
SYMMETRIC(scan, iscan, "scan")
SYMMETRIC(exscan, iexscan, "exscan")
SYMMETRIC(reduce_scatter_block, ireduce_scatter_block, "reduce_scatter_block")
BOTH(reduce_scatter, ireduce_scatter, "reduce_scatter",
     LIST(Buffer* b, Buffer* d, Int* n, Int* t, Int* op, Int* c), LIST(b, d, n, t, op, c),
     deroute_comm(COMM); deroute_list(n, TYPE(t), COMM))
BOTH(allgather, iallgather, "allgather",
     LIST(Buffer* b, Int* n, Int* t, Buffer* d, Int* m, Int* u, Int* c),
     LIST(b, n, t, d, m, u, c), deroute_plain(COMM, *m, TYPE(u)))
BOTH(alltoall, ialltoall, "alltoall",
     LIST(Buffer* b, Int* n, Int* t, Buffer* d, Int* m, Int* u, Int* c),
     LIST(b, n, t, d, m, u, c), deroute_plain(COMM, *m, TYPE(u)))
BOTH(allgatherv, iallgatherv, "allgatherv",
     LIST(Buffer* b, Int* n, Int* t, Buffer* d, Int* m, Int* at, Int* u, Int* c),
     LIST(b, n, t, d, m, at, u, c), deroute_comm(COMM); deroute_list(m, TYPE(u), COMM))

/* The address that stands for a buffer that is replaced: each library has it under its own name. */
static int in_place(const Buffer* b) {
  static const void* known;
  if (!known) {
    known = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    const void* const* mpich = dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE");
    if (mpich) known = *mpich;
  }
  return known && b == known;
}

BOTH(alltoallv, ialltoallv, "alltoallv",
     LIST(Buffer* b, Int* n, Int* from, Int* t, Buffer* d, Int* m, Int* at, Int* u, Int* c),
     LIST(b, n, from, t, d, m, at, u, c), deroute_comm(COMM);
     if (in_place(b)) deroute_list(m, TYPE(u), COMM); else deroute_list(n, TYPE(t), COMM))
BOTH(gather, igather, "gather",
     LIST(Buffer* b, Int* n, Int* t, Buffer* d, Int* m, Int* u, Int* root, Int* c),
     LIST(b, n, t, d, m, u, root, c),
     if (deroute_is(COMM, *root)) deroute_rooted(COMM, *root, *m, TYPE(u));
     else deroute_rooted(COMM, *root, *n, TYPE(t)))
BOTH(scatter, iscatter, "scatter",
     LIST(Buffer* b, Int* n, Int* t, Buffer* d, Int* m, Int* u, Int* root, Int* c),
     LIST(b, n, t, d, m, u, root, c),
     if (deroute_is(COMM, *root)) deroute_rooted(COMM, *root, *n, TYPE(t));
     else deroute_rooted(COMM, *root, *m, TYPE(u)))
BOTH(gatherv, igatherv, "gatherv",
     LIST(Buffer* b, Int* n, Int* t, Buffer* d, Int* m, Int* at, Int* u, Int* root, Int* c),
     LIST(b, n, t, d, m, at, u, root, c),
     if (deroute_is(COMM, *root)) deroute_rooted(COMM, *root, m[*root], TYPE(u));
     else deroute_rooted(COMM, *root, *n, TYPE(t)))
BOTH(scatterv, iscatterv, "scatterv",
     LIST(Buffer* b, Int* n, Int* at, Int* t, Buffer* d, Int* m, Int* u, Int* root, Int* c),
     LIST(b, n, at, t, d, m, u, root, c),
     if (deroute_is(COMM, *root)) deroute_rooted(COMM, *root, n[*root], TYPE(t));
     else deroute_rooted(COMM, *root, *m, TYPE(u)))

/* Communicators. */

#define MAKES(NAME, PARAMETERS, ARGUMENTS)                                               \
  FORTRAN(NAME, LIST(PARAMETERS, Int* made), LIST(ARGUMENTS, made), "newcomm", ,         \
          deroute_made(MPI_Comm_f2c(*made)))
MAKES(comm_dup, LIST(Int* c), LIST(c))
MAKES(comm_split, LIST(Int* c, Int* color, Int* key), LIST(c, color, key))
MAKES(comm_split_type, LIST(Int* c, Int* type, Int* key, Int* info), LIST(c, type, key, info))
MAKES(comm_create, LIST(Int* c, Int* group), LIST(c, group))
MAKES(comm_create_group, LIST(Int* c, Int* group, Int* tag), LIST(c, group, tag))
MAKES(intercomm_merge, LIST(Int* c, Int* high), LIST(c, high))
MAKES(cart_create, LIST(Int* c, Int* n, Int* dims, Int* periods, Int* reorder),
      LIST(c, n, dims, periods, reorder))
MAKES(cart_sub, LIST(Int* c, Int* keep), LIST(c, keep))
FORTRAN(comm_free, LIST(Int* c), LIST(c), "freecomm", MPI_Comm before = COMM,
        deroute_gone(before))
