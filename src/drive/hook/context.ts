import type { HookHost } from '../../agents/host.ts';
import { isObject } from '../../core/json.ts';
import { fileSize, scanLinesBack, utf8Of } from '../../os/files/scan-lines.ts';
import type { Environment } from '../../os/process/program.ts';
import { type Reply, type SessionContext, silent } from '../session/hook-reply.ts';
import { firedAlerts, keepAlerts } from './context-alerts.ts';
import type { HookInput } from './input.ts';

/** The hook after every tool call: says when the context of the session fills up. */
export function contextHook(_host: HookHost, input: HookInput, context: SessionContext): Reply {
  const { sessionId, transcriptPath: transcript, subagent } = input;
  if (transcript === null || subagent) return silent;
  return watchContext({ sessionId: sessionId ?? transcript, transcript }, context);
}

type Severity = 'NOTICE' | 'WARNING' | 'CRITICAL';

const texts: Readonly<Record<Severity, string>> = {
  NOTICE:
    'Be mindful of remaining space. Plan to finish your current task within this session. If you discover follow-up work, add new stories to tasks.json — the next iteration will pick them up.',
  WARNING:
    'Finish your current task and commit soon. Do not start additional tasks. If work remains, create new stories in tasks.json for the next iteration and capture any implementation details or insights in progress.txt so the next iteration has full context.',
  CRITICAL:
    'Wrap up immediately. Do NOT start new work. Instead: (1) create tasks in tasks.json for any remaining work, (2) write implementation details, insights, and handoff notes to progress.txt, (3) commit all changes, (4) stop. The next iteration will continue from where you left off.',
};

const thresholds: readonly (readonly [percent: number, severity: Severity])[] = [
  [50, 'NOTICE'],
  [60, 'NOTICE'],
  [70, 'WARNING'],
  [80, 'WARNING'],
  [90, 'CRITICAL'],
];

/** Tells an agent the highest threshold of context use that it passed, each once in a session. */
function watchContext(
  { sessionId, transcript }: { readonly sessionId: string; readonly transcript: string },
  { env }: Pick<SessionContext, 'env'>,
): Reply {
  const measure = contextUse(transcript, env);
  if (measure === null) return silent;
  const { use, size } = measure;
  const file = { path: transcript, size };
  const passedThresholds = thresholds.filter(([percent]) => use >= percent);
  const top = passedThresholds.at(-1);
  if (top === undefined) return silent;
  const fired = firedAlerts(env, sessionId, file);
  if (fired.includes(top[0])) return silent;
  const [percent, severity] = top;
  keepAlerts(env, sessionId, file, [...new Set([...fired, ...passedThresholds.map(([each]) => each)])]);
  const rounded = Math.min(100, Math.round(use));
  return {
    kind: 'context',
    message: `[${severity}] Context usage is at about ${rounded}% (past ${percent}%). ${texts[severity]}`,
  };
}

const defaultWindow = 200_000;
const defaultCharsPerToken = 4;
/** How many lines from the end are searched for the newest usage. */
const mostLines = 500;

/**
 * Returns the share of the context window that a session has used, in percent: by the tokens of the newest answer or, if
 * none reports them, by the size of the transcript. Null if the transcript cannot be read.
 */
export function contextUse(
  transcript: string,
  env: Environment,
): { readonly use: number; readonly size: number } | null {
  const size = sizeOf(transcript);
  if (size === null) return null;
  const perToken = positive(env.RALPH_CHARS_PER_TOKEN) ?? defaultCharsPerToken;
  const tokens = reportedTokens(transcript) ?? size / perToken;
  return { use: (tokens / (positive(env.CLAUDE_CONTEXT_WINDOW) ?? defaultWindow)) * 100, size };
}

function sizeOf(path: string): number | null {
  try {
    return fileSize(path);
  } catch {
    return null;
  }
}

/** The tokens that the newest answer of the main thread read and wrote; after a compaction these are few again. */
function reportedTokens(path: string): number | null {
  let tokens: number | null = null;
  let lines = 0;
  try {
    scanLinesBack(path, 0, {
      wants: (ends) => ends.includes('"usage"'),
      visit(line) {
        if (line.includes('"usage"') && line.includes('"assistant"')) tokens = tokensIn(line);
        return tokens === null && ++lines < mostLines;
      },
    });
  } catch {
    return null;
  }
  return tokens;
}

function tokensIn(line: string): number | null {
  let entry: unknown;
  try {
    entry = JSON.parse(utf8Of(line));
  } catch {
    return null;
  }
  if (
    !isObject(entry) ||
    entry.type !== 'assistant' ||
    entry.isSidechain === true ||
    !isObject(entry.message)
  )
    return null;
  const { usage } = entry.message;
  if (!isObject(usage)) return null;
  const names = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'];
  const sum = names.reduce(
    (total, name) => total + (Number.isFinite(usage[name]) ? Number(usage[name]) : 0),
    0,
  );
  return sum > 0 ? sum : null;
}

function positive(text: string | undefined): number | null {
  const value = Number(text);
  return text !== undefined && text.trim() !== '' && Number.isFinite(value) && value > 0 ? value : null;
}
