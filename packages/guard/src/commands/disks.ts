import type { Handler, Handlers } from '../call.ts';
import { shown, UNKNOWN } from '../marks.ts';
import { always, byName, denying } from './rules.ts';

/** Changes the disks and images among its words, unless the words only ask for something. */
function changesDisk(asks: RegExp): Handler {
  return (call) => {
    if (asks.test(call.words.map(shown).join(' '))) return UNKNOWN;
    for (const path of call.words) {
      if (path.startsWith('/dev/'))
        call.deny('disk', `changes the disk ${shown(path)}`, 'Work on a file that holds an image.');
      else if (/[./]/.test(path) && !path.startsWith('-')) call.file('write', path);
    }
    return UNKNOWN;
  };
}

/** Disks, partitions, and what the machine boots. Any other program that is given a disk is denied, too. */
export const disks: Handlers = byName(
  {
    'fdisk sfdisk': changesDisk(/(^|\s)(-l|--list|-d|--dump|-s)(\s|$)/),
    parted: changesDisk(/^(-[sm]+ )*(-l|\S+ (unit \S+ )?print)$/),
    sgdisk: changesDisk(/^(-p|--print|-i \d+) \S+$/),
    tune2fs: changesDisk(/^-l(\s|$)/),
    mdadm: changesDisk(/^(-D|--detail|-Q|--query|-E|--examine)(\s|$)/),
    cryptsetup: changesDisk(/^(status|luksDump|isLuks)\b/),
    hdparm: changesDisk(/^(?!.*(security|trim|(^|\s)-[yYzZFMwW]))/),
    nvme: changesDisk(/^(?!format|sanitize|write|delete-ns)/),
  },
  denying('disk', 'changes disks, volumes or what the machine boots', {
    'lvremove vgremove pvremove lvreduce lvresize vgreduce pvcreate vgcreate': always,
    'grub-install grub-mkconfig update-grub update-initramfs dracut mkinitcpio vssadmin umount': always,
    'zpool zfs': /^(?!(list|status|get|iostat|history)\b)/,
    diskutil: /^(?!(list|info|activity)\b)/,
    efibootmgr: /^(?!(-v|--verbose)?$)/,
    bootctl: /^(?!(status|list)?$)/,
    losetup: /^(?!(-a|-l|--list|--all)?$)/,
    dmsetup: /^(?!(ls|info|status|table)\b)/,
    swapon: /^(?!(-s|--summary|--show\S*)?$)/,
    mount: /^(?!-l\b)./,
    btrfs: /\b(delete|remove|replace)\b/,
    grubby: /^(?!--(info|default-\w+)\b)/,
    format: /^[a-z]:/i,
    tmutil: /^(delete|disable)/,
  }),
  denying('disk', 'writes the firmware of the machine', {
    flashrom: /(^|\s)(-[wE]|--write|--erase)/,
    fwupdmgr: /^(install|update|downgrade)\b/,
  }),
);
