/* The MPI calls of C and C++ programs: each does what it always did, and is written down. */
#include "record.h"

#include <stdlib.h>

#define CALLED(RETURNED)       \
  Call call = deroute_enter(); \
  int result = RETURNED;
#define WRITTEN(WORD, PIECES)       \
  if (deroute_leave(&call, WORD)) { \
    PIECES;                         \
    deroute_done();                 \
  }                                 \
  return result;

int MPI_Init(int* argc, char*** argv) {
  deroute_enter();
  int result = PMPI_Init(argc, argv);
  deroute_begin();
  return result;
}

int MPI_Init_thread(int* argc, char*** argv, int wanted, int* given) {
  deroute_enter();
  int result = PMPI_Init_thread(argc, argv, wanted, given);
  deroute_begin();
  return result;
}

int MPI_Finalize(void) {
  Call call = deroute_enter();
  deroute_end(&call);
  return PMPI_Finalize();
}

/* Sends and receives. */

static void sent(int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
  deroute_peer(c, to);
  deroute_bytes(n, t);
  deroute_tag(tag);
  deroute_comm(c);
}

#define SEND(NAME, WORD)                                                             \
  int MPI_##NAME(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { \
    CALLED(PMPI_##NAME(b, n, t, to, tag, c))                                         \
    WRITTEN(WORD, sent(n, t, to, tag, c))                                            \
  }
SEND(Send, "send")
SEND(Ssend, "ssend")
SEND(Rsend, "rsend")
SEND(Bsend, "bsend")

#define ISEND(NAME, WORD)                                                          \
  int MPI_##NAME(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, \
                 MPI_Request* q) {                                                 \
    CALLED(PMPI_##NAME(b, n, t, to, tag, c, q))                                    \
    WRITTEN(WORD, sent(n, t, to, tag, c); deroute_begun(*q, 0, c))                 \
  }
ISEND(Isend, "isend")
ISEND(Issend, "issend")
ISEND(Irsend, "irsend")
ISEND(Ibsend, "ibsend")

int MPI_Recv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* status) {
  MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
  CALLED(PMPI_Recv(b, n, t, from, tag, c, s))
  WRITTEN("recv", sent(n, t, from, tag, c); deroute_came(c, s))
}

int MPI_Irecv(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* q) {
  CALLED(PMPI_Irecv(b, n, t, from, tag, c, q))
  WRITTEN("irecv", sent(n, t, from, tag, c); deroute_begun(*q, from != MPI_PROC_NULL, c))
}

static void exchanged(int n, MPI_Datatype t, int to, int tag, int from, int m, MPI_Datatype u,
                      int other, MPI_Comm c, const MPI_Status* s) {
  deroute_peer(c, to);
  deroute_bytes(n, t);
  deroute_tag(tag);
  sent(m, u, from, other, c);
  deroute_came(c, s);
}

int MPI_Sendrecv(const void* b, int n, MPI_Datatype t, int to, int tag, void* d, int m,
                 MPI_Datatype u, int from, int other, MPI_Comm c, MPI_Status* status) {
  MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
  CALLED(PMPI_Sendrecv(b, n, t, to, tag, d, m, u, from, other, c, s))
  WRITTEN("sendrecv", exchanged(n, t, to, tag, from, m, u, other, c, s))
}

int MPI_Sendrecv_replace(void* b, int n, MPI_Datatype t, int to, int tag, int from, int other,
                         MPI_Comm c, MPI_Status* status) {
  MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
  CALLED(PMPI_Sendrecv_replace(b, n, t, to, tag, from, other, c, s))
  WRITTEN("sendrecv", exchanged(n, t, to, tag, from, n, t, other, c, s))
}

#define SEND_INIT(NAME)                                                            \
  int MPI_##NAME(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, \
                 MPI_Request* q) {                                                 \
    CALLED(PMPI_##NAME(b, n, t, to, tag, c, q))                                    \
    WRITTEN("nothing", deroute_persistent(*q, 0, c, to, tag, n, t))                \
  }
SEND_INIT(Send_init)
SEND_INIT(Ssend_init)
SEND_INIT(Rsend_init)
SEND_INIT(Bsend_init)

int MPI_Recv_init(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* q) {
  CALLED(PMPI_Recv_init(b, n, t, from, tag, c, q))
  WRITTEN("nothing", deroute_persistent(*q, 1, c, from, tag, n, t))
}

int MPI_Start(MPI_Request* q) {
  CALLED(PMPI_Start(q))
  WRITTEN(NULL, deroute_started(q, 1))
}

int MPI_Startall(int n, MPI_Request q[]) {
  CALLED(PMPI_Startall(n, q))
  WRITTEN(NULL, deroute_started(q, n))
}

int MPI_Request_free(MPI_Request* q) {
  MPI_Request before = *q;
  CALLED(PMPI_Request_free(q))
  WRITTEN("nothing", deroute_forget(before))
}

/* Ends of requests. */

#define ONE_STATUS MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status
#define STATUSES                                         \
  int ignored = statuses == MPI_STATUSES_IGNORE;         \
  MPI_Request* before = deroute_copied(q, n);            \
  MPI_Status* s = ignored ? deroute_statuses(n) : statuses

static int freed(MPI_Request* before, MPI_Status* statuses, int ignored, int result) {
  free(before);
  if (ignored) free(statuses);
  return result;
}
#define WRITTEN_LIST(WORD, PIECES)  \
  if (deroute_leave(&call, WORD)) { \
    PIECES;                         \
    deroute_done();                 \
  }                                 \
  return freed(before, s, ignored, result);
/* A test that has found nothing is no more than a part of a wait. */
#define FOUND(CONDITION)    \
  if (!(CONDITION)) {       \
    deroute_polled(&call);  \
    return result;          \
  }
#define FOUND_LIST(CONDITION)                    \
  if (!(CONDITION)) {                            \
    deroute_polled(&call);                       \
    return freed(before, s, ignored, result);    \
  }

int MPI_Wait(MPI_Request* q, MPI_Status* status) {
  ONE_STATUS;
  MPI_Request before = *q;
  CALLED(PMPI_Wait(q, s))
  WRITTEN("wait", deroute_completed(before, s))
}

int MPI_Test(MPI_Request* q, int* flag, MPI_Status* status) {
  ONE_STATUS;
  MPI_Request before = *q;
  CALLED(PMPI_Test(q, flag, s))
  FOUND(*flag)
  WRITTEN("test", deroute_completed(before, s))
}

int MPI_Waitall(int n, MPI_Request q[], MPI_Status statuses[]) {
  STATUSES;
  CALLED(PMPI_Waitall(n, q, s))
  WRITTEN_LIST("wait", deroute_all(before, s, n))
}

int MPI_Testall(int n, MPI_Request q[], int* flag, MPI_Status statuses[]) {
  STATUSES;
  CALLED(PMPI_Testall(n, q, flag, s))
  FOUND_LIST(*flag)
  WRITTEN_LIST("test", deroute_all(before, s, n))
}

int MPI_Waitany(int n, MPI_Request q[], int* which, MPI_Status* status) {
  ONE_STATUS;
  int ignored = 0;
  MPI_Request* before = deroute_copied(q, n);
  CALLED(PMPI_Waitany(n, q, which, s))
  WRITTEN_LIST("waitany", if (*which != MPI_UNDEFINED) deroute_completed(before[*which], s))
}

int MPI_Testany(int n, MPI_Request q[], int* which, int* flag, MPI_Status* status) {
  ONE_STATUS;
  int ignored = 0;
  MPI_Request* before = deroute_copied(q, n);
  CALLED(PMPI_Testany(n, q, which, flag, s))
  FOUND_LIST(*flag)
  WRITTEN_LIST("test", if (*which != MPI_UNDEFINED) deroute_completed(before[*which], s))
}

int MPI_Waitsome(int n, MPI_Request q[], int* done, int which[], MPI_Status statuses[]) {
  STATUSES;
  CALLED(PMPI_Waitsome(n, q, done, which, s))
  WRITTEN_LIST("waitany", deroute_some(before, s, which, *done, 0))
}

int MPI_Testsome(int n, MPI_Request q[], int* done, int which[], MPI_Status statuses[]) {
  STATUSES;
  CALLED(PMPI_Testsome(n, q, done, which, s))
  FOUND_LIST(*done)
  WRITTEN_LIST("test", deroute_some(before, s, which, *done, 0))
}

int MPI_Probe(int from, int tag, MPI_Comm c, MPI_Status* status) {
  ONE_STATUS;
  CALLED(PMPI_Probe(from, tag, c, s))
  WRITTEN("nothing", (void)0)
}

int MPI_Iprobe(int from, int tag, MPI_Comm c, int* flag, MPI_Status* status) {
  CALLED(PMPI_Iprobe(from, tag, c, flag, status))
  FOUND(*flag)
  WRITTEN("nothing", (void)0)
}

/* Communicators. */

#define MAKES(NAME, PARAMETERS, ARGUMENTS)          \
  int MPI_##NAME PARAMETERS {                       \
    CALLED(PMPI_##NAME ARGUMENTS)                   \
    WRITTEN("newcomm", deroute_made(*made))         \
  }
MAKES(Comm_dup, (MPI_Comm c, MPI_Comm* made), (c, made))
MAKES(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* made), (c, color, key, made))
MAKES(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm* made),
      (c, type, key, info, made))
MAKES(Comm_create, (MPI_Comm c, MPI_Group group, MPI_Comm* made), (c, group, made))
MAKES(Comm_create_group, (MPI_Comm c, MPI_Group group, int tag, MPI_Comm* made),
      (c, group, tag, made))
MAKES(Intercomm_merge, (MPI_Comm c, int high, MPI_Comm* made), (c, high, made))
MAKES(Cart_create,
      (MPI_Comm c, int n, const int dims[], const int periods[], int reorder, MPI_Comm* made),
      (c, n, dims, periods, reorder, made))
MAKES(Cart_sub, (MPI_Comm c, const int keep[], MPI_Comm* made), (c, keep, made))
MAKES(Graph_create,
      (MPI_Comm c, int n, const int index[], const int edges[], int reorder, MPI_Comm* made),
      (c, n, index, edges, reorder, made))
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm c, int n, const int sources[], const int from[], int m, const int targets[],
       const int to[], MPI_Info info, int reorder, MPI_Comm* made),
      (c, n, sources, from, m, targets, to, info, reorder, made))

int MPI_Comm_free(MPI_Comm* c) {
  MPI_Comm before = *c;
  CALLED(PMPI_Comm_free(c))
  WRITTEN("freecomm", deroute_gone(before))
}
