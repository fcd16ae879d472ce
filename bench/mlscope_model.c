/* MLScope's network as a library for bench_mlscope: everything in it comes from mlscope_model. */
typedef int bench_mlscope_model;
