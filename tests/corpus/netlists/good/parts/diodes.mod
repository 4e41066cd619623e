* models
.model dfast D(IS=1e-12 TT=2n)
.model dslow D(IS=1e-10 TT=2u)
