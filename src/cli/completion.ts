export function main(): number {
  return 2;
}
