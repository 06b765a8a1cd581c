import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsOptional } from 'class-validator';

export class RotateSigningKeyDto {
  @ApiPropertyOptional({
    default: false,
    description:
      'For a key that others may have: tokens of all keys before are refused from now on, and clients refresh them.',
  })
  @IsOptional()
  @IsBoolean({ message: 'Input should be a boolean' })
  readonly end_others?: boolean;
}

export class RotatedKeyView {
  @ApiProperty({ description: 'Id of the key that signs from now on.' })
  readonly kid!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'Until when tokens of the keys before are accepted.',
  })
  readonly previous_until!: string;
}
