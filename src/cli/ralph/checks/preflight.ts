import { projectPaths, stateFolder } from '../../../config/paths.ts';
import type { LoadedSettings } from '../../../config/settings.ts';
import { RalphError } from '../../../core/error.ts';
import { otherExits } from '../../../core/outcome.ts';
import type { RunAgent } from '../../../drive/process/run-spec.ts';
import type { Context } from '../../kernel/spec.ts';
import { checkPermissions } from './agent.ts';
import type { HealthCheck } from './health-check.ts';
import { checkFolder, checkNode } from './machine.ts';

/** Runs the quick checks of `ralph doctor` before a run. Returns the first error; the agent itself is not tried. */
export function preflight(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  { settings }: LoadedSettings,
  { adapter, permissions, asRoot }: Omit<RunAgent, 'guard'>,
): RalphError | null {
  const checks: HealthCheck[] = [
    checkNode(),
    checkPermissions(adapter, permissions, settings.agent.flags, asRoot),
    ...checkFolder('work', projectPaths(cwd).root),
    ...checkFolder('state', stateFolder(env)),
  ];
  const failure = checks.find(({ status }) => status === 'error');
  if (failure === undefined) return null;
  const { id, evidence, remedy } = failure;
  // A disk that is full or cannot be written is a failure of the machine.
  const { exitCode } = /\.(disk|writable)$/.test(id) ? otherExits.internal : otherExits.usage;
  return new RalphError(id, evidence, { remedy, exitCode });
}
