import type { Context, Input } from '../kernel/spec.ts';
import { fault, warn } from './context.ts';
import type { Fleet } from './fleet.ts';
import { withFleet } from './local-fleet.ts';
import type { cleanOptions, killOptions } from './options.ts';

export function mainKill(context: Context, { values, args }: Input<typeof killOptions>): Promise<void> {
  if (!values.all && args[0] === undefined) throw fault('must specify worker name or --all');
  const worktree = { remove: values['rm-worktree'] === true, force: values['force-dirty'] === true };
  return withFleet(context, values, async (fleet) => {
    await Promise.all(
      (await namesOf(fleet, args[0], values.all)).map(async (name) => {
        await fleet.end(name, worktree);
        context.stdout.write(`killed ${name}\n`);
      }),
    );
  });
}

export function mainClean(context: Context, { values, args }: Input<typeof cleanOptions>): Promise<void> {
  if (!values.all && args[0] === undefined) throw fault('must specify worker name or use --all');
  const worktree = { remove: values['rm-worktree'] !== false, force: values['force-dirty'] === true };
  return withFleet(context, values, async (fleet) => {
    for (const name of await namesOf(fleet, args[0], values.all)) {
      const busy = await fleet.forget(name, worktree);
      if (busy === null) context.stdout.write(`cleaned ${name}\n`);
      else if (values.all)
        warn(context, `skipping '${name}' (${busy === 'running' ? 'still running' : busy})`);
      else throw fault(`cannot clean ${busy} worker '${name}'`, `swarm kill ${name}`);
    }
  });
}

async function namesOf(fleet: Fleet, name: string | undefined, all = false): Promise<string[]> {
  const members = all ? await fleet.all() : [await fleet.need(name)];
  return members.map((member) => member.name);
}
