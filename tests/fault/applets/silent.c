/* A library that exports no applet. */
int silent_answer(void);
__attribute__((visibility("default"))) int silent_answer(void)
{
    return 42;
}
