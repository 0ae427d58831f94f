import * as v from 'valibot';
import { createDriver } from '../../cluster/driver.ts';
import { openDriverChannel } from '../../cluster/driver-process.ts';
import { toDriver } from '../../cluster/messages.ts';
import type { LoopEnd } from '../../fleet/files/loops.ts';

/** Runs one loop for `swarm worker`, which sends it messages. If that dies, this ends, and the agent with it. */
const channel = openDriverChannel(hear, () => void leave('swarm worker has died'));
const driver = createDriver(process.env, channel.send);
let leaving = false;

function hear(message: unknown): void {
  const order = v.parse(toDriver, message);
  if (order.type === 'leave') void leave('there is nothing left to do', order.end);
  else driver.hear(order);
}

async function leave(why: string, ended: LoopEnd | null = null): Promise<void> {
  if (leaving) return;
  leaving = true;
  await driver.close(why, ended);
  await channel.flush();
  process.exit(0);
}

// `swarm worker` gets the signal, too, and sends a message.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
