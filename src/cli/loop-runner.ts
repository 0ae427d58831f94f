import type { ToRunner } from '../cluster/messages.ts';
import { createRunner } from '../cluster/runner.ts';
import type { LoopEnd } from '../store/fleet-loops.ts';
import { openPartnerDoor } from '../system/partner.ts';

/** Runs one loop for `swarm worker`, which tells it what to do. Without that it ends, and with it the agent. */
const door = openPartnerDoor(hear, () => void leave('swarm worker has died'));
const runner = createRunner(process.env, (message) => door.send(message));
let leaving = false;

function hear(message: unknown): void {
  const told = message as ToRunner;
  if (told.type === 'leave') void leave('there is nothing left to do', told.end);
  else runner.hear(told);
}

async function leave(why: string, ended: LoopEnd | null = null): Promise<void> {
  if (leaving) return;
  leaving = true;
  await runner.close(why, ended);
  await door.flush();
  process.exit(0);
}

// A terminal or a service manager tells `swarm worker`, which tells us.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
