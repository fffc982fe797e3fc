"""What programs do: recorded, generated, described, converted; for the engine to replay."""
