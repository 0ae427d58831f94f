export function size(text: string): number {
  const [, number = '0', unit = ''] = /^(\d+)([kKMGT]?)/.exec(text) ?? [];
  return Number(number) * 1024 ** ' kMGT'.indexOf(unit === 'K' ? 'k' : unit || ' ');
}
