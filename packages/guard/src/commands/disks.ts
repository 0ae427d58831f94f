import { shown, UNKNOWN } from '../marks.ts';
import type { Handler, Handlers } from '../model.ts';
import { always, byName, unless, when } from './rules.ts';

const onDevice: Handler = (call) => {
  for (const path of call.words) {
    if (path.startsWith('/dev/'))
      call.deny('disk', `changes the disk ${shown(path)}`, 'Work on a file that holds an image.');
    else if (/[./]/.test(path) && !path.startsWith('-')) call.file('write', path);
  }
};

const mount: Handler = (call) => {
  if (call.name === 'mount' && (call.words.length === 0 || call.words[0] === '-l')) return UNKNOWN;
  call.deny('disk', 'changes which disks are mounted');
  return '';
};

const changed = always('disk', 'changes disks, volumes or what the machine boots');

/** Disks, partitions, and what the machine boots. Any other program that is given a disk is denied, too. */
export const disks: Handlers = byName({
  'fdisk sfdisk': unless(/(^|\s)(-l|--list|-d|--dump|-s)(\s|$)/, onDevice),
  parted: unless(/^(-[sm]+ )*(-l|\S+ (unit \S+ )?print)$/, onDevice),
  sgdisk: unless(/^(-p|--print|-i \d+) \S+$/, onDevice),
  tune2fs: unless(/^-l(\s|$)/, onDevice),
  mdadm: unless(/^(-D|--detail|-Q|--query|-E|--examine)(\s|$)/, onDevice),
  cryptsetup: unless(/^(status|luksDump|isLuks)\b/, onDevice),
  hdparm: (call) =>
    call.words.some((word) => /security|^-[yYzZFMwW]|trim/.test(word)) ? onDevice(call) : UNKNOWN,
  nvme: (call) => (/^(format|sanitize|write|delete-ns)/.test(call.words[0] ?? '') ? onDevice(call) : UNKNOWN),
  'lvremove vgremove pvremove lvreduce lvresize vgreduce pvcreate vgcreate': changed,
  'grub-install grub-mkconfig update-grub update-initramfs dracut mkinitcpio': changed,
  'zpool zfs': unless(/^(list|status|get|iostat|history)\b/, changed),
  diskutil: unless(/^(list|info|activity)\b/, changed),
  efibootmgr: unless(/^(-v|--verbose)?$/, changed),
  bootctl: unless(/^(status|list)?$/, changed),
  losetup: unless(/^(-a|-l|--list|--all)?$/, changed),
  dmsetup: unless(/^(ls|info|status|table)\b/, changed),
  swapon: unless(/^(-s|--summary|--show\S*)?$/, changed),
  flashrom: when(/(^|\s)(-[wE]|--write|--erase)/, 'disk', 'writes the firmware of the machine'),
  fwupdmgr: when(/^(install|update|downgrade)\b/, 'disk', 'writes the firmware of the machine'),
  'mount umount': mount,
  btrfs: when(/\b(delete|remove|replace)\b/, 'disk', 'deletes a volume'),
  grubby: unless(/^--(info|default-\w+)\b/, changed),
  format: when(/^[a-z]:/i, 'disk', 'formats a disk'),
  vssadmin: always('disk', 'changes disk snapshots'),
  tmutil: when(/^(delete|disable)/, 'disk', 'deletes backups'),
});
