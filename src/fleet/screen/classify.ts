import type { AgentScreen } from '../../agents/agent.ts';
import { type AgentName, agents } from '../../agents/registry.ts';
import { resetTimeIn } from '../../agents/reset-time.ts';
import { lastLines } from './shown.ts';

/** State of the agent on a screen. `until` is epoch milliseconds. */
export type Screen = {
  readonly state: 'working' | 'permission' | 'answer' | 'limit' | 'logged-out' | 'blocked' | 'idle';
  readonly detail?: string;
  readonly until?: number;
};

/** Common question of an unknown program. */
const plainQuestion =
  /(?:[[(]y(?:es)?\/no?[\])]|\b(?:password|passphrase)\b[^:]*:|press (?:any key|enter|return)\b.{0,40})[\s:?]*$/i;
const plainPrompt = /[$#%>❯›]\s*$/;

/** Reads a screen; null if it says nothing certain. What is certain from elsewhere goes before it. */
export function classify(agent: AgentName, lines: readonly string[], now: number): Screen | null {
  const shown = lastLines(lines);
  const screen = agents[agent].screen;
  if (screen === null) return plainQuestion.test(shown.at(-1) ?? '') ? { state: 'answer' } : null;
  const text = shown.join('\n');
  return dialogIn(screen, shown, text, now) ?? workIn(screen, shown, text, now);
}

/** True if the agent waits for its next prompt, with nothing in the way. */
export function isReady(agent: AgentName, lines: readonly string[]): boolean {
  if (agents[agent].screen !== null) return classify(agent, lines, 0)?.state === 'idle';
  return plainPrompt.test(lastLines(lines).at(-1) ?? '');
}

/** Returns the use of the context in percent; null if the screen of this agent does not show it. */
export function contextOnScreen(agent: AgentName, lines: readonly string[]): number | null {
  const screen = agents[agent].screen;
  const text = lastLines(lines).join('\n');
  const usedPercent = screen?.context?.exec(text)?.[1];
  if (usedPercent !== undefined) return Number(usedPercent);
  const leftPercent = screen?.contextLeft?.exec(text)?.[1];
  return leftPercent === undefined ? null : 100 - Number(leftPercent);
}

/** True if the screen says that the agent has made room in its context. */
export function compactsOnScreen(agent: AgentName, lines: readonly string[]): boolean {
  return agents[agent].screen?.compacts?.test(lastLines(lines).join('\n')) ?? false;
}

/** The usage limit that ended a program which prints and exits; null if the end of its output tells of none. */
export function limitAtExit(agent: AgentName, lines: readonly string[], now: number): Screen | null {
  const text = lastLines(lines).slice(-5).join('\n');
  return agents[agent].screen?.limit.test(text) ? limitFrom(text, now) : null;
}

function dialogIn(screen: AgentScreen, shown: string[], text: string, now: number): Screen | null {
  const blocker = Object.entries(screen.blockers).find(([, pattern]) => pattern.test(text))?.[0];
  const hasInput = screen.input.test(text);
  const isDialog = screen.dialog
    ? screen.dialog.test(shown.slice(-2).join('\n'))
    : !hasInput && !isWorking(screen, shown);
  if (blocker !== undefined && (isDialog || !hasInput)) return { state: 'blocked', detail: blocker };
  if (!isDialog) return null;
  if (screen.permission?.test(text)) return { state: 'permission' };
  if (screen.dialog !== undefined && screen.limit.test(text)) return limitFrom(text, now);
  return screen.question?.test(text) ? { state: 'answer' } : null;
}

function workIn(screen: AgentScreen, shown: string[], text: string, now: number): Screen | null {
  const isLimited = isLastWord(screen, shown, screen.limit);
  // Some agents retry, and say so in their last lines.
  if (isLimited && screen.limit.test(shown.slice(-4).join('\n'))) return limitFrom(text, now);
  if (isWorking(screen, shown)) return { state: 'working' };
  if (isLimited) return limitFrom(text, now);
  if (isLastWord(screen, shown, screen.loggedOut)) return { state: 'logged-out' };
  if (!screen.input.test(text)) return null;
  return { state: isInTurn(screen, shown) ? 'working' : 'idle' };
}

function isWorking(screen: AgentScreen, shown: readonly string[]): boolean {
  return screen.working.test(shown.slice(-screen.footer).join('\n'));
}

/** True if the agent has said nothing since: what it came over is no news. */
function isLastWord(screen: AgentScreen, shown: readonly string[], pattern: RegExp): boolean {
  const at = shown.findLastIndex((line) => pattern.test(line));
  return at !== -1 && !shown.slice(at + 1).some((line) => screen.speech.test(line));
}

/** Codex 0.166 shows nothing while it streams, only the end of its turn. */
function isInTurn({ speech, turnEnd }: AgentScreen, shown: readonly string[]): boolean {
  if (turnEnd === undefined) return false;
  const speechAt = shown.findLastIndex((line) => speech.test(line));
  return speechAt !== -1 && !shown.slice(speechAt + 1).some((line) => turnEnd.test(line));
}

function limitFrom(text: string, now: number): Screen {
  const until = resetTimeIn(text, now);
  return until === undefined ? { state: 'limit' } : { state: 'limit', until };
}
