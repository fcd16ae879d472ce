/* A library with a graphics driver's name, in which a callback faults. No applet. */
void driver_call(void (*call)(void *), void *arg);
__attribute__((visibility("default"))) void driver_call(void (*call)(void *), void *arg)
{
    call(arg);
    __asm__ volatile(""); /* no tail call: this function stays on the stack */
}
