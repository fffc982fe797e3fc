/* What the C and the Fortran half of the recorder share. See docs/applications.md for the format. */
#ifndef DEROUTE_RECORD_H
#define DEROUTE_RECORD_H

#include <mpi.h>

/* One call of the program: its own time on the CPU since the last one, and when it came here. */
typedef struct {
  long long compute_ns, begun_ns;
} Call;

/* A call begins; calls that the library makes of itself are within one, and are not recorded. */
Call deroute_enter(void);
/* It has returned: 1 if it is to be recorded. The line is begun, with `word` if that is not 0. */
int deroute_leave(const Call* call, const char* word);
/* It has returned, and found that nothing has ended yet: no line is written. */
void deroute_polled(const Call* call);
/* The line ends. */
void deroute_done(void);

/* Pieces of a line. */
void deroute_number(long long value);
void deroute_peer(MPI_Comm comm, int rank);
void deroute_tag(int tag);
void deroute_bytes(int count, MPI_Datatype type);
void deroute_comm(MPI_Comm comm);
/* Bytes of every member: `count` of each, or `counts` of them. */
void deroute_list(const int* counts, MPI_Datatype type, MPI_Comm comm);
/* ` <SOURCE,TAG,BYTES` of a message that has come. */
void deroute_came(MPI_Comm comm, const MPI_Status* status);
/* Communicator and bytes; with the root between them. */
void deroute_plain(MPI_Comm comm, int count, MPI_Datatype type);
void deroute_rooted(MPI_Comm comm, int root, int count, MPI_Datatype type);
/* Whether this rank is `rank` of the communicator. */
int deroute_is(MPI_Comm comm, int rank);
/* A request is begun: its number, and whether a message comes with its end; none does from nobody. */
void deroute_begun(MPI_Request request, int receive, MPI_Comm comm);
/* A request may have ended: its number, and what came. */
void deroute_completed(MPI_Request before, const MPI_Status* status);
void deroute_all(const MPI_Request* before, const MPI_Status* statuses, int count);
/* Those at the places `which`, counted from `first`. */
void deroute_some(const MPI_Request* before, const MPI_Status* statuses, const int* which,
                  int count, int first);
/* What requests were before the call that ends them, and room for statuses; the caller frees. */
MPI_Request* deroute_copied(const MPI_Request* requests, int count);
MPI_Status* deroute_statuses(int count);
/* A persistent request is made, started, freed. */
void deroute_persistent(MPI_Request request, int receive, MPI_Comm comm, int peer, int tag,
                        int count, MPI_Datatype type);
void deroute_started(const MPI_Request* requests, int count);
void deroute_forget(MPI_Request request);
/* A communicator exists from now on, on all of its members; one is gone. */
void deroute_made(MPI_Comm comm);
void deroute_gone(MPI_Comm comm);
/* A call that cannot be replayed: it is counted, and told at the end. */
void deroute_uncovered(const char* name);

/* MPI has begun, in the call that was entered last. */
void deroute_begin(void);
/* MPI is about to end. */
void deroute_end(const Call* call);

#endif
