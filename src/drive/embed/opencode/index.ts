// OpenCode takes every function that this module exports for a plugin, so there is only the one.
export { RalphLoop } from './plugin.ts';
export type { PluginHooks, PluginInput } from './types.ts';
