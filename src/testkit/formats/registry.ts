import type { FakeAgentName } from '../script.ts';
import { amp } from './amp.ts';
import { claude } from './claude.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { custom } from './custom.ts';
import type { AgentFormat } from './format.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';

/** All formats of the fake agent. */
export const formats: Record<FakeAgentName, AgentFormat> = {
  claude,
  codex,
  amp,
  opencode,
  gemini,
  copilot,
  qwen,
  pi,
  cline,
  custom,
};
