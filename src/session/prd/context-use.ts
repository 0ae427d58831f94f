import { isObject } from '../../core/json.ts';
import { fileSize, scanLinesBack, utf8Of } from '../../system/scan-lines.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const defaultWindow = 200_000;
const defaultCharsPerToken = 4;
/** How many lines from the end are searched for the newest usage. */
const mostLines = 500;

/**
 * How much of its context window a session has used, in percent: by the tokens that the newest answer reports, or where
 * none does, by the size of the transcript. Null if the transcript cannot be read.
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
  let seen = 0;
  try {
    scanLinesBack(path, 0, {
      wants: (ends) => ends.includes('"usage"'),
      visit(line) {
        if (line.includes('"usage"') && line.includes('"assistant"')) tokens = tokensIn(line);
        return tokens === null && ++seen < mostLines;
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
