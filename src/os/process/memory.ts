/** Loading node:v8 takes 15 ms, which nobody notices once the agent works. */
const soonMs = 250;
let isSet = false;

/**
 * Stops V8 from growing its space for young objects. For a stream of small lines it would take 30 MB more and keep them
 * while the loop waits for hours; this costs a long stream about a twentieth of its speed.
 */
export function keepMemorySmall(): void {
  if (isSet) return;
  isSet = true;
  setTimeout(() => {
    process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1');
  }, soonMs).unref();
}
