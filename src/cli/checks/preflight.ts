import { RalphError } from '../../core/error.ts';
import { outcomes, startFailures } from '../../core/outcome.ts';
import type { RunAgent } from '../../loop/run-spec.ts';
import { projectPaths, stateFolder } from '../../store/paths.ts';
import type { LoadedSettings } from '../../store/settings.ts';
import type { Context } from '../spec.ts';
import { checkPermissions, checkRuns } from './agent.ts';
import type { HealthCheck } from './health-check.ts';
import { checkFolder, checkNode } from './machine.ts';

/**
 * The checks of `ralph doctor` that take next to no time, before a run: the first error, or null. The agent is started
 * only if its version is not known, which is the case for one that does not run.
 */
export async function preflight(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  { settings }: LoadedSettings,
  { adapter, program, version, permissions, asRoot }: RunAgent,
): Promise<RalphError | null> {
  const checks: HealthCheck[] = [
    checkNode(),
    checkPermissions(adapter, permissions, settings.agent.flags, asRoot),
    ...checkFolder('work', projectPaths(cwd).root),
    ...checkFolder('state', stateFolder(env)),
  ];
  if (version === null && adapter.name !== 'custom') {
    checks.push((await checkRuns(adapter, program, { ...env, ...settings.agent.env })).check);
  }
  const failed = checks.find(({ status }) => status === 'error');
  if (failed === undefined) return null;
  const { exitCode } = failed.id === 'agent.runs' ? outcomes.AGENT_FAILED : startFailures.usage;
  return new RalphError(failed.id, failed.evidence, {
    exitCode,
    ...(failed.remedy === undefined ? {} : { remedy: failed.remedy }),
  });
}
