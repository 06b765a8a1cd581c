import { Controller, Get, Headers, Query, StreamableFile } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '@app/platform';
import { Readable } from 'node:stream';
import { RequireScope } from '../authorize/access.decorators.js';
import {
  auditCursor,
  AuditPageView,
  ExportAuditParams,
  type ExportFormat,
  ListAuditParams,
  toFilter,
  toView,
} from './audit.dto.js';
import { AuditExport } from './audit-export.js';
import { AuditStore } from './audit.store.js';

const TYPES = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
} as const satisfies Record<ExportFormat, string>;

@ApiTags('audit')
@ApiBearerAuth()
@Controller('api/v1/aggregator/audit')
@RequireScope('admin')
export class AuditController {
  constructor(
    private readonly audit: AuditStore,
    private readonly exports: AuditExport,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List audit log entries (changes, refusals and tool calls), newest first',
  })
  @ApiOkResponse({ type: AuditPageView })
  @ApiErrors(422)
  async listAuditEntries(@Query() params: ListAuditParams): Promise<AuditPageView> {
    const page = auditCursor.read(params);
    const found = await this.audit.page(toFilter(params), page);
    const { shown, about } = auditCursor.page(found, page);
    return { entries: shown.map(toView), ...about };
  }

  @Get('export')
  @ApiOperation({ summary: 'Export audit log entries as NDJSON or CSV, newest first' })
  @ApiProduces('application/x-ndjson', 'text/csv')
  @ApiOkResponse({
    schema: { type: 'string' },
    description:
      'One entry a line. In CSV, a cell that a spreadsheet would take for a formula begins with an apostrophe.',
  })
  @ApiErrors(422)
  exportAuditEntries(
    @Query() params: ExportAuditParams,
    @Headers('accept') accept: string | undefined,
  ): StreamableFile {
    const format = params.format ?? (accept?.includes('text/csv') ? 'csv' : 'ndjson');
    const lines = this.exports.lines(toFilter(params), format, params.limit);
    return new StreamableFile(Readable.from(lines, { objectMode: false }), {
      type: TYPES[format],
      disposition: `attachment; filename="audit.${format}"`,
    });
  }
}
