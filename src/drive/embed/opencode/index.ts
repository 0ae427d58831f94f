// Exports one function only: OpenCode takes each for a plugin.
export { RalphLoop } from './plugin.ts';
export type { PluginHooks, PluginInput } from './types.ts';
