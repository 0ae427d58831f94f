import type { AgentScreen } from '../../agents/agent.ts';
import { type AgentName, agents } from '../../agents/registry.ts';
import { resetTimeIn } from '../../agents/reset-time.ts';
import { shorten } from '../../core/text.ts';
import { lastLines } from './motion.ts';

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
/** Keys that a dialog offers, and an option of a list that is chosen by keys. */
const keyHint =
  /\b(?:press|use) (?:any key|enter|return)\b|\b(?:enter|return|esc)(?: to|\/esc)? (?:confirm|continue|select|submit|save|accept|cancel|stay|go back|back|exit|dismiss)\b/i;
const chosenOption = /^[❯›>●▶] ?\d+[.)] \S/;
const frame = /^[\s│┃]+|[\s│┃]+$/g;
const rule = /^[─━▔╭╰╌]{10,}/;
/** Lines at the end of a screen that are taken for a dialog. */
const dialogHeight = 10;
const longestQuestion = 120;

/** Reads the state of the agent from a screen; null if it is not certain. */
export function classify(agent: AgentName, lines: readonly string[], now: number): Screen | null {
  const visible = lastLines(lines);
  const screen = agents[agent].screen;
  if (screen === null) return waitsForKey(visible) ? { state: 'answer', detail: questionIn(visible) } : null;
  const text = visible.join('\n');
  return dialogIn(screen, visible, text, now) ?? workIn(screen, visible, text, now);
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

/** Returns the usage limit that ended a program; null if the end of its output shows none. */
export function limitAtExit(agent: AgentName, lines: readonly string[], now: number): Screen | null {
  const text = lastLines(lines).slice(-5).join('\n');
  return agents[agent].screen?.limit.test(text) ? limitFrom(text, now) : null;
}

function dialogIn(screen: AgentScreen, visible: string[], text: string, now: number): Screen | null {
  const blocker = Object.entries(screen.blockers).find(([, pattern]) => pattern.test(text))?.[0];
  const hasInput = screen.input.test(text);
  const isOpen = !hasInput && !isWorking(screen, visible);
  const asksForKey = waitsForKey(visible);
  const isDialog =
    screen.dialog?.test(visible.slice(-2).join('\n')) || (isOpen && (!screen.dialog || asksForKey));
  if (blocker !== undefined && (isDialog || !hasInput)) return { state: 'blocked', detail: blocker };
  if (!isDialog) return null;
  const { permission } = screen;
  if (permission?.test(text)) {
    return {
      state: 'permission',
      detail: plainText(visible.find((line) => permission.test(line)) ?? ''),
    };
  }
  if ((asksForKey || screen.dialog !== undefined) && screen.limit.test(text)) return limitFrom(text, now);
  const isQuestion = asksForKey || screen.question?.test(text);
  return isQuestion ? { state: 'answer', detail: questionIn(visible) } : null;
}

/** True if the end of a screen is a common question, or a dialog that names its keys. */
function waitsForKey(visible: readonly string[]): boolean {
  const lines = visible.map(plainText).filter((line) => line !== '' && !rule.test(line));
  if (plainQuestion.test(lines.at(-1) ?? '') || lines.slice(-3).some((line) => keyHint.test(line)))
    return true;
  return lines.slice(-dialogHeight).some((line) => chosenOption.test(line));
}

/** Returns the question of a dialog: its last line that asks, else its title, else the last line. */
function questionIn(visible: readonly string[]): string {
  const lines = visible.map(plainText).filter((line) => line !== '');
  const asking = lines
    .slice(-dialogHeight)
    .findLast((line) => line.endsWith('?') || plainQuestion.test(line));
  const ruleAt = lines.findLastIndex((line, at) => rule.test(line) && at < lines.length - 1);
  return asking ?? lines.at(ruleAt === -1 ? -1 : ruleAt + 1) ?? '';
}

/** Returns a line without the frame around it. */
function plainText(line: string): string {
  return shorten(line.replace(frame, ''), longestQuestion);
}

function workIn(screen: AgentScreen, visible: string[], text: string, now: number): Screen | null {
  const isLimited = isLastWord(screen, visible, screen.limit);
  // Some agents retry, and say so in their last lines.
  if (isLimited && screen.limit.test(visible.slice(-4).join('\n'))) return limitFrom(text, now);
  if (isWorking(screen, visible)) return { state: 'working' };
  if (isLimited) return limitFrom(text, now);
  if (isLastWord(screen, visible, screen.loggedOut)) return { state: 'logged-out' };
  if (!screen.input.test(text)) return null;
  return { state: isInTurn(screen, visible) ? 'working' : 'idle' };
}

function isWorking(screen: AgentScreen, visible: readonly string[]): boolean {
  return screen.working.test(visible.slice(-screen.footer).join('\n'));
}

/** True if the agent has said nothing since: what it came over is no news. */
function isLastWord(screen: AgentScreen, visible: readonly string[], pattern: RegExp): boolean {
  const at = visible.findLastIndex((line) => pattern.test(line));
  return at !== -1 && !visible.slice(at + 1).some((line) => screen.speech.test(line));
}

/** Codex 0.166 shows nothing while it streams, only the end of its turn. */
function isInTurn({ speech, turnEnd }: AgentScreen, visible: readonly string[]): boolean {
  if (turnEnd === undefined) return false;
  const speechAt = visible.findLastIndex((line) => speech.test(line));
  return speechAt !== -1 && !visible.slice(speechAt + 1).some((line) => turnEnd.test(line));
}

function limitFrom(text: string, now: number): Screen {
  const until = resetTimeIn(text, now);
  return until === undefined ? { state: 'limit' } : { state: 'limit', until };
}
