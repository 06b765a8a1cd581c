import { ApiProperty } from '@nestjs/swagger';

export class LoginLinkView {
  @ApiProperty({
    example: 'http://127.0.0.1:8081/console/login#W2sR…',
    description: 'Logs a browser in, once. It is shown only in this answer.',
  })
  readonly url!: string;

  @ApiProperty({ example: 'ci', description: 'Whom it logs in: the caller.' })
  readonly name!: string;

  @ApiProperty({ format: 'date-time', description: 'Until when it can be opened.' })
  readonly expires_at!: string;
}
