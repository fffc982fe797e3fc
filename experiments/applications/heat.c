/* Heat that spreads over a square: each rank has a part of it, and tells its neighbours its borders.
   mpicc -O2 -o heat heat.c -lm && mpirun -np 16 ./heat */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 256, STEPS = 20 };

int main(int argc, char** argv) {
  int rank, size, dims[2] = {0, 0}, around[2] = {1, 1}, here[2], up, down, left, right;
  MPI_Comm grid;
  MPI_Datatype column;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, here);
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  MPI_Cart_shift(grid, 1, 1, &left, &right);
  int rows = POINTS, width = POINTS + 2;
  MPI_Type_vector(rows, 1, width, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  double* now = calloc((rows + 2) * width, sizeof(double));
  double* then = calloc((rows + 2) * width, sizeof(double));
  now[width * (rows / 2) + width / 2] = rank + 1.0;
  for (int step = 0; step < STEPS; ++step) {
    MPI_Request open[8];
    MPI_Irecv(&now[1], POINTS, MPI_DOUBLE, up, 1, grid, &open[0]);
    MPI_Irecv(&now[(rows + 1) * width + 1], POINTS, MPI_DOUBLE, down, 2, grid, &open[1]);
    MPI_Irecv(&now[width], 1, column, left, 3, grid, &open[2]);
    MPI_Irecv(&now[width + POINTS + 1], 1, column, right, 4, grid, &open[3]);
    MPI_Isend(&now[rows * width + 1], POINTS, MPI_DOUBLE, down, 1, grid, &open[4]);
    MPI_Isend(&now[width + 1], POINTS, MPI_DOUBLE, up, 2, grid, &open[5]);
    MPI_Isend(&now[width + POINTS], 1, column, right, 3, grid, &open[6]);
    MPI_Isend(&now[width + 1], 1, column, left, 4, grid, &open[7]);
    MPI_Waitall(8, open, MPI_STATUSES_IGNORE);
    double change = 0, most;
    for (int i = 1; i <= rows; ++i) {
      for (int j = 1; j <= POINTS; ++j) {
        int at = i * width + j;
        then[at] = 0.2 * (now[at] + now[at - 1] + now[at + 1] + now[at - width] + now[at + width]);
        change = fmax(change, fabs(then[at] - now[at]));
      }
    }
    double* swapped = now;
    now = then;
    then = swapped;
    MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, grid);
    if (rank == 0 && step + 1 == STEPS) printf("last change %.3g\n", most);
  }
  free(now);
  free(then);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
