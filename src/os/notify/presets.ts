import type { Notice, NoticeKind } from '../../core/notice.ts';
import { plural } from '../../core/text.ts';

/** Services that take a notice at an address of the user's own. */
export const services = ['slack', 'discord', 'ntfy', 'telegram'] as const;

export type Service = (typeof services)[number];

export type ServicePost = { readonly url: string; readonly body: object };

/** Makes the POST that tells a notice to a service. What an agent wrote can neither mention people nor make a link. */
export function servicePost(service: Service, address: string, notice: Notice): ServicePost {
  switch (service) {
    case 'slack':
      return { url: address, body: slackBody(notice) };
    case 'discord':
      return { url: address, body: discordBody(notice) };
    case 'ntfy':
      return ntfyPost(address, notice);
    case 'telegram':
      // Without a parse mode Telegram takes it as plain text; the chat is in the address.
      return {
        url: address,
        body: { text: noticeLines(notice).join('\n'), link_preview_options: { is_disabled: true } },
      };
  }
}

/** The notice in lines: what happened, why, outcome with cost, and the command to type. */
export function noticeLines(notice: Notice): string[] {
  const { title, body, outcome, iterations, costUsd, next } = notice;
  const facts = [
    outcome,
    iterations === undefined ? undefined : plural(iterations, 'iteration'),
    costUsd === undefined ? undefined : `$${costUsd.toFixed(2)}`,
  ].filter((fact) => fact !== undefined);
  const lines = [title, body, facts.join(' · '), next === undefined ? '' : `Next: ${next}`];
  return lines.filter((line) => line !== '');
}

/** `plain_text` is shown as it is; `text` is what a notification shows, where `<!channel>` would be a mention. */
function slackBody(notice: Notice): object {
  const text = noticeLines(notice).join('\n');
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return {
    text: escaped,
    blocks: [{ type: 'section', text: { type: 'plain_text', text, emoji: false } }],
  };
}

/** Discord has no plain text, so its signs are escaped. Flag 4 keeps it from fetching links. */
function discordBody(notice: Notice): object {
  const content = noticeLines(notice)
    .map((line) => line.replace(/[\\*_~`|<>[\]()#@:-]/g, '\\$&'))
    .join('\n');
  return { content: content.slice(0, 2000), allowed_mentions: { parse: [] }, flags: 4 };
}

const ntfyTags: Readonly<Record<NoticeKind, string>> = {
  done: 'white_check_mark',
  blocked: 'raising_hand',
  decide: 'question',
  stuck: 'snail',
  limit: 'hourglass',
  failure: 'x',
};

/** The address ends with the topic; JSON goes to the folder above it. */
function ntfyPost(address: string, notice: Notice): ServicePost {
  const url = new URL(address);
  const [, folder = '/', topic = ''] = /^(.*\/)([^/]*)\/?$/.exec(url.pathname) ?? [];
  url.pathname = folder;
  const [title, ...lines] = noticeLines(notice);
  const isUrgent = notice.kind === 'blocked' || notice.kind === 'decide';
  const body = { topic, title, message: lines.join('\n'), tags: [ntfyTags[notice.kind]] };
  return { url: url.href, body: { ...body, priority: isUrgent ? 4 : 3 } };
}
