import type { AnswerBlock, BlockAnswer } from './script.ts';
import { emptyCall, type OfferedTool, shellCall, type ToolCall, writeCall } from './tools.ts';
import type { Pause, Reply, ReplyBlock } from './wire.ts';

const fewTokens = { inputTokens: 1000, outputTokens: 50, cacheReadTokens: 800, cacheWriteTokens: 0 };

/** Makes a scripted answer ready for an API. Throws where it calls a tool that the client does not offer. */
export function replyOf(
  answer: BlockAnswer,
  request: { readonly id: number; readonly model: string; readonly tools: readonly OfferedTool[] },
): Reply {
  const id = String(request.id).padStart(6, '0');
  let index = -1;
  const parts = answer.blocks.map((block): ReplyBlock | Pause => {
    if ('delay' in block) return { pause: block.delay };
    if ('hang' in block) return { pause: Number.POSITIVE_INFINITY };
    index += 1;
    const place = { index, id: `${id}${String(index).padStart(3, '0')}` };
    if ('text' in block) return { ...place, kind: 'text', text: block.text };
    if ('thinking' in block) return { ...place, kind: 'thinking', text: block.thinking };
    return { ...place, kind: 'call', ...callOf(block, request.tools) };
  });
  const { model } = request;
  return { id, model, parts, usage: { ...fewTokens, ...answer.usage }, stop: answer.stop };
}

/** What a client gets that offers no tools or forces one: it asks for a title or the like, not for work. */
export function sideReply(
  forced: OfferedTool | undefined,
  request: { readonly id: number; readonly model: string },
): Reply {
  const block: AnswerBlock = forced
    ? { tool: emptyCall(forced) }
    : { text: '{"title":"A scripted title","isNewTopic":false}' };
  return replyOf({ blocks: [block] }, { ...request, tools: [] });
}

function callOf(
  block: Extract<AnswerBlock, { shell: string } | { write: object } | { tool: object }>,
  tools: readonly OfferedTool[],
): ToolCall {
  if ('shell' in block) return shellCall(block.shell, tools);
  if ('write' in block) return writeCall(block.write, tools);
  return block.tool;
}
