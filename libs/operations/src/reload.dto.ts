import { ApiProperty } from '@nestjs/swagger';

export class SkippedEntryView {
  @ApiProperty({ example: 'github', description: 'Its name in the file.' })
  readonly key!: string;
  @ApiProperty({ example: 'it has neither a command nor a url' })
  readonly reason!: string;
}

export class ReloadView {
  @ApiProperty({ type: [String], description: 'Servers that are new.', example: ['github'] })
  readonly registered!: readonly string[];
  @ApiProperty({
    type: [String],
    description: 'Servers that were registered before; they are unchanged.',
    example: ['files'],
  })
  readonly known!: readonly string[];
  @ApiProperty({ type: [SkippedEntryView], description: 'Entries that were not registered.' })
  readonly skipped!: readonly SkippedEntryView[];
}
