import type { Permissions } from '../adapter.ts';
import { asRecord, type JsonRecord, list, str } from '../json.ts';

/** Tool call as far as the agent has described it. */
export type AcpCall = {
  readonly id: string;
  /** Kind of tool, such as `read`, `edit` or `execute`. */
  readonly kind: string;
  readonly name: string | undefined;
  readonly title: string;
  readonly input: JsonRecord;
  /** Files that it names. */
  readonly paths: readonly string[];
};

/** Adds an update to what is known of a call; fields that it leaves out stay. */
export function mergeCall(before: AcpCall | undefined, update: JsonRecord): AcpCall {
  const { toolCallId, kind, name, title, rawInput } = update;
  const input = { ...before?.input, ...asRecord(rawInput) };
  return {
    id: before?.id ?? str(toolCallId) ?? '',
    kind: str(kind) ?? before?.kind ?? 'other',
    name: str(name) ?? before?.name,
    title: str(title) ?? before?.title ?? '',
    input,
    paths: [...new Set([...(before?.paths ?? []), ...pathsIn(update)])],
  };
}

function pathsIn({ locations, content, rawInput }: JsonRecord): string[] {
  const { file_path, filePath, filepath, absolute_path, path, paths } = asRecord(rawInput);
  const places = [...list(locations), ...list(content)].map((entry) => asRecord(entry).path);
  return [...places, file_path, filePath, filepath, absolute_path, path, ...list(paths)].filter(
    (value) => typeof value === 'string' && value !== '',
  ) as string[];
}

/** Returns the command that a call would run; undefined for another tool, or if the agent does not tell. */
function commandOf({ kind, input, title }: AcpCall, titleIsCommand: boolean): unknown {
  const command = input.command ?? input.cmd;
  if (command !== undefined) return command;
  return kind === 'execute' && titleIsCommand ? title : undefined;
}

/** Returns a call by the name and the input that the guard knows. */
export function guardedCall(
  call: AcpCall,
  titleIsCommand: boolean,
): { readonly tool: string; readonly input: object } {
  const { kind, input, paths } = call;
  const command = commandOf(call, titleIsCommand);
  if (kind === 'execute' || (command !== undefined && !editing.has(kind))) {
    // A command that the agent keeps to itself cannot be judged, and the guard says so.
    return { tool: 'bash', input: { command: command ?? null, workdir: input.cwd ?? input.workdir } };
  }
  if (editing.has(kind)) return { tool: 'write', input: { paths } };
  if (kind === 'read') return { tool: 'read', input: { paths } };
  if (kind === 'search') return { tool: 'grep', input: { ...input, paths } };
  return { tool: call.name ?? call.title, input };
}

const looking = new Set(['read', 'search', 'think']);
const editing = new Set(['edit', 'delete', 'move']);

/** Returns why the permissions do not allow a call; null if they do. */
export function refusalBy(
  permissions: Permissions,
  call: AcpCall,
  isInside: (path: string) => boolean,
): string | null {
  if (permissions === 'full') return null;
  const { kind, paths } = call;
  const runs = commandOf(call, false) !== undefined && !editing.has(kind);
  if (!runs && looking.has(kind)) return null;
  if (permissions === 'read') return `not allowed: with the permissions "read" you may only look`;
  if (runs || !editing.has(kind))
    return 'not allowed: with the permissions "edit" you may change files here, but run no commands and no other tools';
  const outside = paths.find((path) => !isInside(path));
  return outside === undefined ? null : `not allowed: ${outside} is outside of the project`;
}

/** Chooses the answer to a permission request. Only `allow_once` allows: after `allow_always` nobody asks again. */
export function permissionOutcome(options: unknown, isAllowed: boolean): JsonRecord {
  const kinds = isAllowed ? ['allow_once'] : ['reject_once', 'reject_always'];
  const entries = list(options).map(asRecord);
  const choice = kinds.flatMap((kind) => entries.filter((entry) => entry.kind === kind))[0];
  return choice === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: choice.optionId };
}
