/** What it takes to ask V8 is 15 ms of loading: nobody notices them once the agent works. */
const soonMs = 250;
let asked = false;

/**
 * Stops V8 from making more room for young objects than it has by then. It would take 48 MB for a stream of small lines,
 * and a loop that then waits for hours does not give them back; this costs a long stream about a twentieth of its speed.
 */
export function keepMemorySmall(): void {
  if (asked) return;
  asked = true;
  setTimeout(() => {
    process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1');
  }, soonMs).unref();
}
