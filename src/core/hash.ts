/** Returns a short fingerprint of a text, to compare texts without keeping them. */
export function hashText(text: string): string {
  let a = 2166136261;
  let b = 3266489917;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 16777619) >>> 0;
    b = Math.imul(b ^ code, 2246822519) >>> 0;
  }
  return a.toString(16).padStart(8, '0') + b.toString(16).padStart(8, '0');
}
