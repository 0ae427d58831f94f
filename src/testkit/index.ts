export { createFakeClock } from '../os/clock.ts';
export { type FakeAgentOptions, type InstalledFakeAgent, installFakeAgent } from './install.ts';
export type {
  ApiError,
  Child,
  FakeAgentName,
  Flood,
  Script,
  ScriptedResult,
  ScriptedTool,
  ScriptTurn,
  Step,
} from './script.ts';
export type { Call } from './traces.ts';
