import { messageOf } from '../../core/error.ts';
import type { Notice } from '../../core/notice.ts';
import { runNoticeCommand } from './command.ts';
import {
  type Channel,
  channelsOf,
  type Delivery,
  type NotifySettings,
  type NotifyWorld,
} from './delivery.ts';
import { showOnDesktop } from './desktop.ts';
import { outsideOf, wordOfProject } from './outside.ts';
import { postNotice } from './webhook.ts';

/** Sends a notice by every channel that is set up, unless the user does not want this kind. Never rejects. */
export async function sendNotice(
  notice: Notice,
  settings: NotifySettings,
  world: NotifyWorld,
): Promise<Delivery[]> {
  if (!settings.on.includes(notice.kind)) return [];
  return Promise.all(channelsOf(settings).map((channel) => sendBy(channel, notice, settings, world)));
}

/** Sends a notice by one channel, whatever its kind. */
export async function sendBy(
  channel: Channel,
  notice: Notice,
  settings: NotifySettings,
  world: NotifyWorld,
): Promise<Delivery> {
  try {
    return { channel, ...(await deliver(channel, notice, settings, world)) };
  } catch (error) {
    return { channel, ok: false, detail: messageOf(error) };
  }
}

async function deliver(
  channel: Channel,
  notice: Notice,
  { webhook, secret, command }: NotifySettings,
  world: NotifyWorld,
): Promise<{ ok: boolean; detail: string }> {
  switch (channel) {
    case 'bell':
      if (world.terminal === null) return { ok: false, detail: 'there is no terminal here' };
      world.terminal('\x07');
      return { ok: true, detail: 'rung' };
    case 'desktop':
      return showOnDesktop(notice, outsideOf(world));
    case 'webhook':
      if (webhook === undefined) return { ok: false, detail: 'notify.webhook is not set' };
      return postNotice(
        notice,
        {
          url: webhook,
          // A hook starts without them, as they slow Node down.
          certificates: world.env.NODE_EXTRA_CA_CERTS,
          ...(secret === undefined ? {} : { secret }),
        },
        world,
      );
    case 'command':
      if (command === undefined) return { ok: false, detail: 'notify.command is not set' };
      // Again: the settings of a worker are read when it ends.
      if (world.sandboxed && wordOfProject(command, world) !== null)
        return { ok: false, detail: 'notify.command is in the project, which the agent can change' };
      return runNoticeCommand(notice, command, outsideOf(world));
  }
}
