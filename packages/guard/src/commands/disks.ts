import type { Handlers } from '../call.ts';
import { always, byName, denying } from './rules.ts';

/** Disks, and what the machine boots. Any program that is given a disk and does more than look at it is denied, too. */
export const disks: Handlers = byName(
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
