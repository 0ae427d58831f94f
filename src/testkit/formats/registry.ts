import type { FakeAgentName } from '../script.ts';
import { claude } from './claude.ts';
import { custom } from './custom.ts';
import type { AgentFormat } from './format.ts';

/** Every agent that can be faked. An agent more is one file and one row. */
export const formats: Record<FakeAgentName, AgentFormat> = {
  claude,
  custom,
};
