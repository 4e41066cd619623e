"""ngspice in the box: sandbox, runner, log reader."""
