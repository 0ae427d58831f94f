import { toolGuard } from './guard.ts';
import type { PluginHooks, PluginInput } from './types.ts';

/** The guard alone, for the runs of `ralph run --agent opencode`. */
export async function RalphGuard({ directory }: PluginInput): Promise<PluginHooks> {
  return { 'tool.execute.before': toolGuard(directory, process.env, Date.now) };
}
