import { projectPaths, stateFolder } from '../../../config/paths.ts';
import type { LoadedSettings } from '../../../config/settings.ts';
import { RalphError } from '../../../core/error.ts';
import { otherExits } from '../../../core/outcome.ts';
import type { RunAgent } from '../../../drive/process/run-spec.ts';
import type { Context } from '../../kernel/spec.ts';
import { checkPermissions } from './agent.ts';
import type { HealthCheck } from './health-check.ts';
import { checkFolder, checkNode } from './machine.ts';

/**
 * The checks of `ralph doctor` that take next to no time, before a run: the first error, or null. The agent itself is
 * not tried here: its first turn is about to tell.
 */
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
  const failed = checks.find(({ status }) => status === 'error');
  if (failed === undefined) return null;
  const { exitCode } = otherExits.usage;
  return new RalphError(failed.id, failed.evidence, {
    exitCode,
    ...(failed.remedy === undefined ? {} : { remedy: failed.remedy }),
  });
}
