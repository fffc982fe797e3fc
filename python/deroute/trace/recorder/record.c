/* Writes what the MPI calls of a rank were, one text file per rank. */
#include "record.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Communicator {
  MPI_Comm comm;
  long long id;
  int size;
  int* world; /* of each member */
  struct Communicator* next;
} Communicator;

typedef struct Request {
  MPI_Request request;
  long long number;
  int receive, peer, tag, count;
  MPI_Comm comm;
  MPI_Datatype type;
  struct Request* next;
} Request;

typedef struct Uncovered {
  const char* name;
  long long calls;
  struct Uncovered* next;
} Uncovered;

enum { BUCKETS = 4096 };
/* Whoever tests again after less time than this on the CPU does nothing but wait. */
enum { POLL_NS = 10000 };

static FILE* out;
static int world_rank, world_size, opened;
static long long communicators, requests;
static Communicator* known;
static Request* active[BUCKETS];
static Request* persistent[BUCKETS];
static Uncovered* uncovered;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int depth;
static __thread long long last_cpu_ns, carried_ns;
static __thread int polled;
static long long clock_ns; /* What reading the clock takes. */

static long long now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void* allocated(size_t bytes) {
  void* memory = malloc(bytes ? bytes : 1);
  if (!memory) {
    fprintf(stderr, "deroute: no memory to record in\n");
    abort();
  }
  return memory;
}

/* Calls and lines. */

Call deroute_enter(void) {
  Call call = {0, 0};
  if (depth++ == 0) {
    long long spent = now(CLOCK_THREAD_CPUTIME_ID) - last_cpu_ns - clock_ns;
    int waits = spent < 0 || (polled && spent < POLL_NS);
    call.compute_ns = carried_ns + (waits ? 0 : spent);
    call.begun_ns = now(CLOCK_MONOTONIC);
  }
  return call;
}

void deroute_polled(const Call* call) {
  if (--depth > 0) return;
  carried_ns = call->compute_ns;
  polled = 1;
  last_cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);
}

int deroute_leave(const Call* call, const char* word) {
  if (--depth > 0 || !out) return 0;
  pthread_mutex_lock(&lock);
  /* What is called from here is not of the program. */
  ++depth;
  polled = 0;
  carried_ns = 0;
  fprintf(out, "%lld %lld", call->compute_ns, now(CLOCK_MONOTONIC) - call->begun_ns);
  if (word) fprintf(out, " %s", word);
  return 1;
}

void deroute_done(void) {
  fputc('\n', out);
  --depth;
  pthread_mutex_unlock(&lock);
  last_cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);
}

void deroute_number(long long value) { fprintf(out, " %lld", value); }

void deroute_tag(int tag) { deroute_number(tag == MPI_ANY_TAG ? -1 : tag); }

static long long bytes_of(int count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
  PMPI_Type_size_x(type, &size);
  return (long long)size * count;
}

void deroute_bytes(int count, MPI_Datatype type) { deroute_number(bytes_of(count, type)); }

/* Communicators. */

static Communicator* find(MPI_Comm comm) {
  for (Communicator** at = &known; *at; at = &(*at)->next) {
    Communicator* found = *at;
    if (found->comm == comm) {
      *at = found->next;
      found->next = known;
      return known = found;
    }
  }
  return NULL;
}

static void forget(MPI_Comm comm) {
  Communicator* found = find(comm);
  if (!found) return;
  known = found->next;
  free(found->world);
  free(found);
}

/* Numbers a communicator, with the same number on all members, and writes a line of its own. */
static Communicator* name(MPI_Comm comm) {
  MPI_Group here, all;
  int rank = 0;
  forget(comm);
  Communicator* made = allocated(sizeof *made);
  *made = (Communicator){comm, 0, 0, NULL, known};
  PMPI_Comm_size(comm, &made->size);
  PMPI_Comm_rank(comm, &rank);
  made->world = allocated(sizeof(int) * made->size);
  int* ranks = allocated(sizeof(int) * made->size);
  for (int i = 0; i < made->size; ++i) ranks[i] = i;
  PMPI_Comm_group(comm, &here);
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Group_translate_ranks(here, made->size, ranks, all, made->world);
  PMPI_Group_free(&here);
  PMPI_Group_free(&all);
  free(ranks);
  if (comm != MPI_COMM_WORLD) {
    made->id = ++communicators * world_size + made->world[rank];
    if (made->size > 1) PMPI_Bcast(&made->id, 1, MPI_LONG_LONG, 0, comm);
  }
  fprintf(out, "comm %lld", made->id);
  for (int i = 0; i < made->size; ++i) fprintf(out, "%c%d", i ? ',' : ' ', made->world[i]);
  return known = made;
}

void deroute_made(MPI_Comm comm) {
  int between = 0;
  if (comm == MPI_COMM_NULL) return;
  PMPI_Comm_test_inter(comm, &between);
  if (between) return;
  fputc('\n', out);
  name(comm);
}

void deroute_comm(MPI_Comm comm) {
  Communicator* found = find(comm);
  deroute_number(found ? found->id : -1);
}

void deroute_gone(MPI_Comm comm) {
  deroute_comm(comm);
  forget(comm);
}

static int world_of(MPI_Comm comm, int rank) {
  Communicator* found = find(comm);
  if (rank == MPI_ANY_SOURCE) return -1;
  return found && rank >= 0 && rank < found->size ? found->world[rank] : -2;
}

int deroute_is(MPI_Comm comm, int rank) { return world_of(comm, rank) == world_rank; }

void deroute_peer(MPI_Comm comm, int rank) { deroute_number(world_of(comm, rank)); }

void deroute_plain(MPI_Comm comm, int count, MPI_Datatype type) {
  deroute_comm(comm);
  deroute_bytes(count, type);
}

void deroute_rooted(MPI_Comm comm, int root, int count, MPI_Datatype type) {
  deroute_comm(comm);
  deroute_peer(comm, root);
  deroute_bytes(count, type);
}

void deroute_list(const int* counts, MPI_Datatype type, MPI_Comm comm) {
  Communicator* found = find(comm);
  for (int i = 0; found && i < found->size; ++i) {
    fprintf(out, "%c%lld", i ? ',' : ' ', bytes_of(counts[i], type));
  }
}

/* Requests. Libraries give several finished sends the same handle: the oldest is taken first. */

static Request** bucket(Request** table, MPI_Request request) {
  unsigned long long bits = 0;
  memcpy(&bits, &request, sizeof request < sizeof bits ? sizeof request : sizeof bits);
  Request** at = &table[(bits * 0x9E3779B97F4A7C15ULL) >> 52];
  while (*at && (*at)->request != request) at = &(*at)->next;
  return at;
}

static void append(Request** table, Request made) {
  Request** at = bucket(table, made.request);
  while (*at) at = &(*at)->next;
  *at = allocated(sizeof made);
  **at = made;
}

static int take(Request** table, MPI_Request request, Request* taken) {
  Request** at = bucket(table, request);
  Request* found = *at;
  if (!found) return 0;
  *taken = *found;
  *at = found->next;
  free(found);
  return 1;
}

void deroute_begun(MPI_Request request, int receive, MPI_Comm comm) {
  Request made = {.request = request, .number = requests++, .receive = receive, .comm = comm};
  deroute_number(made.number);
  if (request != MPI_REQUEST_NULL) append(active, made);
}

static void came(MPI_Comm comm, const MPI_Status* status) {
  MPI_Count size = 0;
  PMPI_Get_elements_x(status, MPI_BYTE, &size);
  int source = world_of(comm, status->MPI_SOURCE);
  fprintf(out, "<%d,%d,%lld", source, status->MPI_TAG, size < 0 ? 0 : (long long)size);
}

void deroute_came(MPI_Comm comm, const MPI_Status* status) {
  fputc(' ', out);
  came(comm, status);
}

void deroute_completed(MPI_Request before, const MPI_Status* status) {
  Request ended;
  if (before == MPI_REQUEST_NULL || !take(active, before, &ended)) return;
  deroute_number(ended.number);
  if (ended.receive) came(ended.comm, status);
}

void deroute_all(const MPI_Request* before, const MPI_Status* statuses, int count) {
  for (int i = 0; i < count; ++i) deroute_completed(before[i], &statuses[i]);
}

void deroute_some(const MPI_Request* before, const MPI_Status* statuses, const int* which,
                  int count, int first) {
  if (count == MPI_UNDEFINED) return;
  for (int i = 0; i < count; ++i) deroute_completed(before[which[i] - first], &statuses[i]);
}

MPI_Request* deroute_copied(const MPI_Request* from, int count) {
  size_t bytes = sizeof(MPI_Request) * (count > 0 ? count : 0);
  return memcpy(allocated(bytes), from, bytes);
}

MPI_Status* deroute_statuses(int count) {
  return allocated(sizeof(MPI_Status) * (count > 0 ? count : 0));
}

void deroute_persistent(MPI_Request request, int receive, MPI_Comm comm, int peer, int tag,
                        int count, MPI_Datatype type) {
  Request made = {request, 0, receive, peer, tag, count, comm, type, NULL};
  append(persistent, made);
}

void deroute_started(const MPI_Request* started, int count) {
  for (int i = 0; i < count; ++i) {
    Request* made = *bucket(persistent, started[i]);
    if (i) fputs("\n0 0", out);
    fputs(made ? (made->receive ? " irecv" : " isend") : " nothing", out);
    if (!made) continue;
    deroute_peer(made->comm, made->peer);
    deroute_bytes(made->count, made->type);
    deroute_tag(made->tag);
    deroute_comm(made->comm);
    deroute_begun(started[i], made->receive && made->peer != MPI_PROC_NULL, made->comm);
  }
  if (count <= 0) fputs(" nothing", out);
}

void deroute_forget(MPI_Request request) {
  Request gone;
  take(persistent, request, &gone);
}

void deroute_uncovered(const char* name) {
  Uncovered* at = uncovered;
  while (at && strcmp(at->name, name)) at = at->next;
  if (!at) {
    at = allocated(sizeof *at);
    *at = (Uncovered){name, 0, uncovered};
    uncovered = at;
  }
  ++at->calls;
}

/* The file of this rank. */

static void measure_clock(void) {
  for (int i = 0; i < 100; ++i) {
    long long before = now(CLOCK_THREAD_CPUTIME_ID), took = now(CLOCK_THREAD_CPUTIME_ID) - before;
    if (i == 0 || took < clock_ns) clock_ns = took;
  }
}

static void open_file(void) {
  measure_clock();
  const char* folder = getenv("DEROUTE_TRACE");
  char path[4096];
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
  snprintf(path, sizeof path, "%s/rank%d.txt", folder ? folder : ".", world_rank);
  out = fopen(path, "w");
  if (!out) {
    perror(path);
    return;
  }
  setvbuf(out, NULL, _IOFBF, 1 << 20);
  fprintf(out, "mpi-trace 1\nrank %d of %d\n", world_rank, world_size);
  name(MPI_COMM_WORLD);
  fputc('\n', out);
  name(MPI_COMM_SELF);
  fputc('\n', out);
}

void deroute_begin(void) {
  if (!opened++) open_file();
  --depth;
  last_cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);
}

void deroute_end(const Call* call) {
  if (!deroute_leave(call, "finalize")) return;
  fputc('\n', out);
  for (Uncovered* at = uncovered; at; at = at->next) {
    fprintf(out, "# %lld calls of %s are not recorded\n", at->calls, at->name);
  }
  fclose(out);
  out = NULL;
  pthread_mutex_unlock(&lock);
}
