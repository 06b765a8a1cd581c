/** More than the largest event. */
const MAX_CHARS = 262_144;

export interface EventFrame {
  readonly id: string;
  readonly data: string;
}

/** Reads the frames of another replica's event stream; throws when one is too long. */
export class FrameReader {
  private rest = '';

  read(chunk: string): readonly EventFrame[] {
    this.rest += chunk;
    const frames = this.rest.split('\n\n');
    this.rest = frames.pop() ?? '';
    if (this.rest.length > MAX_CHARS) throw new Error('an event of another replica is too long');
    return frames.map(frameIn).filter((frame) => frame !== undefined);
  }
}

function frameIn(text: string): EventFrame | undefined {
  const lines = text.split('\n');
  const id = fieldIn(lines, 'id: ');
  return id === undefined ? undefined : { id, data: fieldIn(lines, 'data: ') ?? '' };
}

function fieldIn(lines: readonly string[], name: string): string | undefined {
  return lines.find((line) => line.startsWith(name))?.slice(name.length);
}
