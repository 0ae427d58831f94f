import { shown, UNKNOWN } from '../marks.ts';
import type { Handler, Handlers } from '../model.ts';
import { always, askPerson, when } from './rules.ts';

const onDevice: Handler = (call) => {
  for (const path of call.words) {
    if (path.startsWith('/dev/'))
      call.act('deny', 'disk', `changes the disk ${shown(path)}`, 'Work on a file that holds an image.');
    else if (/[./]/.test(path) && !path.startsWith('-')) call.file('write', path);
  }
  return UNKNOWN;
};

const mount: Handler = (call) => {
  if (call.name === 'mount' && (call.words.length === 0 || call.words[0] === '-l')) return UNKNOWN;
  call.act('deny', 'disk', 'changes which disks are mounted', askPerson);
  return '';
};

/** Disks, partitions, and what the machine boots. */
export const disks: Handlers = {
  mkswap: onDevice,
  wipefs: onDevice,
  sgdisk: onDevice,
  parted: onDevice,
  sfdisk: onDevice,
  fdisk: (call) => (call.words.includes('-l') ? UNKNOWN : onDevice(call)),
  gdisk: onDevice,
  cfdisk: onDevice,
  hdparm: (call) =>
    call.words.some((word) => /security|^-[yYzZFMwW]|trim/.test(word)) ? onDevice(call) : UNKNOWN,
  nvme: (call) => (/^(format|sanitize|write|delete-ns)/.test(call.words[0] ?? '') ? onDevice(call) : UNKNOWN),
  blkdiscard: onDevice,
  badblocks: onDevice,
  e2fsck: onDevice,
  fsck: onDevice,
  resize2fs: onDevice,
  tune2fs: onDevice,
  debugfs: onDevice,
  cryptsetup: onDevice,
  mdadm: onDevice,
  ...Object.fromEntries(
    [
      'mkfs',
      'mkfs.ext4',
      'mkfs.ext3',
      'mkfs.ext2',
      'mkfs.xfs',
      'mkfs.btrfs',
      'mkfs.vfat',
      'mkfs.fat',
      'mkfs.ntfs',
      'mke2fs',
      'newfs',
    ].map((name) => [name, onDevice]),
  ),
  ...Object.fromEntries(
    [
      'lvremove',
      'vgremove',
      'pvremove',
      'lvreduce',
      'zpool',
      'zfs',
      'diskutil',
      'grub-install',
      'update-grub',
      'grub-mkconfig',
      'efibootmgr',
      'bootctl',
      'losetup',
      'dmsetup',
      'swapon',
    ].map((name) => [name, always('disk', 'changes disks, volumes or what the machine boots')]),
  ),
  mount,
  umount: mount,
  btrfs: when(/\b(delete|remove|replace)\b/, 'disk', 'deletes a volume'),
  vssadmin: always('disk', 'changes disk snapshots'),
};
