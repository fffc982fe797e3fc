/* A small program that makes calls of every kind. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size, done = 0, which, flag;
  double in[64] = {0}, out[64] = {0};
  MPI_Request q[4];
  MPI_Status status;
  MPI_Comm half, mine;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  /* Several sends at once, received by wildcards, shorter than posted. */
  MPI_Irecv(in, 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q[0]);
  MPI_Irecv(in + 8, 8, MPI_DOUBLE, left, 6, MPI_COMM_WORLD, &q[1]);
  MPI_Isend(out, 8, MPI_DOUBLE, right, 5, MPI_COMM_WORLD, &q[2]);
  MPI_Isend(out, 8, MPI_DOUBLE, right, 6, MPI_COMM_WORLD, &q[3]);
  MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(out, 3, MPI_INT, right, 7, in, 3, MPI_INT, left, 7, MPI_COMM_WORLD, &status);
  MPI_Sendrecv(out, 1, MPI_INT, rank + 1 < size ? right : MPI_PROC_NULL, 8, in, 1, MPI_INT,
               rank ? left : MPI_PROC_NULL, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  /* Persistent requests, and tests until one has ended. */
  MPI_Recv_init(in, 4, MPI_FLOAT, left, 9, MPI_COMM_WORLD, &q[0]);
  MPI_Send_init(out, 4, MPI_FLOAT, right, 9, MPI_COMM_WORLD, &q[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, q);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    for (flag = 0; !flag;) MPI_Test(&q[0], &flag, &status);
  }
  MPI_Request_free(&q[0]);
  MPI_Request_free(&q[1]);
  /* Communicators: halves by parity, in the other order. */
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_dup(half, &mine);
  MPI_Bcast(out, 5, MPI_INT, 0, half);
  MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, mine);
  int rank_here, size_here;
  MPI_Comm_rank(half, &rank_here);
  MPI_Comm_size(half, &size_here);
  if (rank_here == 0) for (int i = 1; i < size_here; ++i) MPI_Recv(in, 9, MPI_CHAR, i, 1, half, &status);
  else MPI_Ssend(out, 9, MPI_CHAR, 0, 1, half);
  MPI_Comm_free(&mine);
  /* Collectives, blocking and not. */
  int* counts = calloc(size, sizeof(int)), *at = calloc(size, sizeof(int));
  for (int i = 0; i < size; ++i) { counts[i] = 1; at[i] = i; }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Reduce(out, in, 3, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(out, 2, MPI_CHAR, in, 2, MPI_CHAR, MPI_COMM_WORLD);
  MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD);
  MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatterv(out, counts, at, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Iallreduce(out, in, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &q[0]);
  MPI_Ibarrier(MPI_COMM_WORLD, &q[1]);
  while (done < 2) { MPI_Waitany(2, q, &which, &status); ++done; }
  MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Comm_free(&half);
  free(counts);
  free(at);
  MPI_Finalize();
  return 0;
}
