! A ring of messages and an allreduce, through the Fortran calls.
program ring
  use mpi
  implicit none
  integer :: error, rank, size, request(2), statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE)
  integer :: half, line, counts(64), places(64), i
  double precision :: out(64), into(64)
  logical :: periods(1)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  out = rank
  call MPI_Irecv(into, 64, MPI_DOUBLE_PRECISION, modulo(rank - 1, size), 3, MPI_COMM_WORLD, request(1), error)
  call MPI_Isend(out, 10, MPI_DOUBLE_PRECISION, modulo(rank + 1, size), 3, MPI_COMM_WORLD, request(2), error)
  call MPI_Waitall(2, request, statuses, error)
  call MPI_Sendrecv(out, 1, MPI_INTEGER, modulo(rank + 1, size), 4, into, 1, MPI_INTEGER, &
                    modulo(rank - 1, size), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Allreduce(MPI_IN_PLACE, out, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
  call MPI_Bcast(out, 3, MPI_REAL, 0, half, error)
  counts = 1
  places = [(i, i = 0, 63)]
  call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, into, counts, places, MPI_INTEGER, &
                     MPI_COMM_WORLD, error)
  periods = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], periods, .false., line, error)
  if (rank == 0) call MPI_Send(out, 7, MPI_BYTE, 1, 5, line, error)
  if (rank == 1) call MPI_Recv(into, 7, MPI_BYTE, MPI_ANY_SOURCE, 5, line, status, error)
  call MPI_Comm_free(half, error)
  call MPI_Finalize(error)
end program
