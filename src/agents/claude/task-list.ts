import type { TodoItem } from '../adapter.ts';
import { todoStatus } from '../events.ts';
import { asRecord, type JsonRecord, str } from '../json.ts';

export type TaskList = ReturnType<typeof createTaskList>;

/** Builds the todo list from TaskCreate and TaskUpdate, which report one change each. */
export function createTaskList() {
  const items = new Map<string, TodoItem>();
  const calls = new Map<string, JsonRecord>();

  return {
    /** Notes a call in a block of an assistant message. */
    called(block: JsonRecord): void {
      if (block.name !== 'TaskCreate' && block.name !== 'TaskUpdate') return;
      calls.set(str(block.id) ?? '', asRecord(block.input));
    },
    /** Applies the answer to a call; returns the whole list if it changed. */
    answered(id: string, failed: boolean, result: JsonRecord): TodoItem[] | undefined {
      const input = calls.get(id);
      if (input === undefined) return undefined;
      calls.delete(id);
      if (failed || result.success === false) return undefined;
      // Only the answer to TaskCreate has the number of the new task.
      const created = str(asRecord(result.task).id);
      const task = created ?? str(input.taskId);
      if (task === undefined) return undefined;
      if (input.status === 'deleted') {
        items.delete(task);
      } else {
        const before = created === undefined ? items.get(task) : undefined;
        items.set(task, {
          text: str(input.subject) ?? before?.text ?? `#${task}`,
          status: input.status === undefined && before ? before.status : todoStatus(input.status),
        });
      }
      return [...items.values()];
    },
  };
}
