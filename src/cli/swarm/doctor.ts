import { plural } from '../../core/text.ts';
import { examine, repair } from '../../fleet/doctor.ts';
import { readWorkers } from '../../fleet/files/workers.ts';
import { ensureSupervisor, supervisorPid } from '../../fleet/supervisor-start.ts';
import { systemClock } from '../../os/clock.ts';
import { findProgram } from '../../os/process/process.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault } from './context.ts';
import type { doctorOptions } from './options.ts';

/** Lists what is left behind or broken in the fleet of this machine; with --fix, repairs it. */
export async function main(context: Context, { values }: Input<typeof doctorOptions>): Promise<number> {
  const { env, stdout } = context;
  if (findProgram('tmux', env) === null) throw fault('tmux is not installed', 'apt install tmux');
  const startSupervisor = () => ensureSupervisor(env, programCommand('swarm'));
  const doctor = { env, now: systemClock.now(), startSupervisor };
  const findings = await examine(doctor);
  let problems = 0;
  for (const finding of findings) {
    const isFixed = values.fix === true && (await repair(doctor, finding));
    if (!isFixed) problems++;
    const next = values.fix ? 'it could not be put right' : `swarm doctor --fix would ${finding.remedy}`;
    const lines = isFixed ? [`fixed    ${finding.text}`] : [`problem  ${finding.text}`, `         ${next}`];
    stdout.write(cleanTerminal(`${lines.join('\n')}\n`));
  }
  if (findings.length === 0) stdout.write(`all is well: ${summary(env)}\n`);
  return problems === 0 ? 0 : 1;
}

function summary(env: Context['env']): string {
  const { workers } = readWorkers(env);
  const pid = supervisorPid(env);
  const count = plural(workers.length, 'worker');
  return pid === null ? `${count}, no supervisor needed` : `${count}, supervisor ${pid}`;
}
