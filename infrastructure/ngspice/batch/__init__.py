"""Many runs of loaded circuits on confined guests that host libngspice."""
