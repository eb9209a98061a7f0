import type { MigrationInterface, QueryRunner, TableColumnOptions } from 'typeorm';
import { cascading, createTable, instantDefault, instantType, integerType, oneToOneName } from './tables.js';

/** The whole schema, without SQL, so that it can be created in every database that TypeORM supports. */
export class CreateSchema1760000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const id: TableColumnOptions = {
      name: 'id',
      type: integerType(runner),
      isPrimary: true,
      isGenerated: true,
      generationStrategy: 'increment',
    };
    const text = (name: string, length: number): TableColumnOptions => ({
      name,
      type: 'varchar',
      length: String(length),
    });
    const reference = (name: string): TableColumnOptions => ({ name, type: integerType(runner) });

    await createTable(runner, {
      name: 'polls_question',
      columns: [
        id,
        text('question_text', 200),
        { name: 'pub_date', type: instantType(runner), ...instantDefault(runner) },
      ],
    });
    await createTable(runner, {
      name: 'polls_choice',
      columns: [id, text('choice_text', 200), { ...reference('votes'), default: 0 }, reference('questionId')],
      foreignKeys: [cascading('questionId', 'polls_question')],
    });

    await createTable(runner, {
      name: 'lab_student',
      columns: [id, text('name', 75), text('discipline', 20), text('program', 20)],
    });
    await createTable(runner, {
      name: 'lab_system',
      columns: [id, text('name', 75), text('location', 20), { ...reference('studentId'), isNullable: true }],
      foreignKeys: [cascading('studentId', 'lab_student')],
      unique: { name: oneToOneName(runner, 'lab_system', 'studentId'), columnNames: ['studentId'] },
    });

    await createTable(runner, { name: 'edu_student', columns: [id, text('name', 75)] });
    await createTable(runner, { name: 'edu_course', columns: [id, text('name', 75)] });
    await createTable(runner, {
      name: 'edu_enrollment',
      columns: [id, reference('course_id'), reference('student_id')],
      foreignKeys: [cascading('course_id', 'edu_course'), cascading('student_id', 'edu_student')],
      unique: { name: 'edu_enrollment_pair', columnNames: ['course_id', 'student_id'] },
    });
    await createTable(runner, {
      name: 'edu_friendship',
      columns: [id, reference('from_student_id'), reference('to_student_id')],
      foreignKeys: [cascading('from_student_id', 'edu_student'), cascading('to_student_id', 'edu_student')],
      unique: { name: 'edu_friendship_pair', columnNames: ['from_student_id', 'to_student_id'] },
    });

    await createTable(runner, { name: 'library_book', columns: [id, text('title', 120)] });
    await createTable(runner, { name: 'library_author', columns: [id, text('name', 75)] });
    await createTable(runner, {
      name: 'library_book_authors',
      columns: [
        { ...reference('libraryBookId'), isPrimary: true },
        { ...reference('libraryAuthorId'), isPrimary: true },
      ],
      foreignKeys: [
        cascading('libraryBookId', 'library_book'),
        cascading('libraryAuthorId', 'library_author'),
      ],
    });

    await createTable(runner, {
      name: 'desk_ticket',
      columns: [id, text('subject', 200), { name: 'body', type: 'text', default: "''" }],
    });
    await createTable(runner, {
      name: 'desk_comment',
      columns: [id, text('text', 500), reference('ticketId')],
      foreignKeys: [cascading('ticketId', 'desk_ticket')],
    });
    await createTable(runner, { name: 'desk_agent', columns: [id, text('name', 75)] });
    await createTable(runner, {
      name: 'desk_assignment',
      columns: [
        id,
        { ...text('role', 20), default: "'helper'" },
        reference('ticket_id'),
        reference('agent_id'),
      ],
      foreignKeys: [cascading('ticket_id', 'desk_ticket'), cascading('agent_id', 'desk_agent')],
      unique: { name: 'desk_assignment_pair', columnNames: ['ticket_id', 'agent_id'] },
    });

    await createTable(runner, { name: 'club_member', columns: [id, text('name', 75)] });
    await createTable(runner, { name: 'club_event', columns: [id, text('title', 75)] });
    await createTable(runner, {
      name: 'club_payment',
      columns: [id, reference('amount'), reference('memberId')],
      foreignKeys: [cascading('memberId', 'club_member')],
    });
    await createTable(runner, {
      name: 'club_member_events',
      columns: [
        { ...reference('clubMemberId'), isPrimary: true },
        { ...reference('clubEventId'), isPrimary: true },
      ],
      foreignKeys: [cascading('clubMemberId', 'club_member'), cascading('clubEventId', 'club_event')],
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    const tables = [
      'club_member_events',
      'club_payment',
      'club_event',
      'club_member',
      'desk_assignment',
      'desk_agent',
      'desk_comment',
      'desk_ticket',
      'library_book_authors',
      'library_author',
      'library_book',
      'edu_friendship',
      'edu_enrollment',
      'edu_course',
      'edu_student',
      'lab_system',
      'lab_student',
      'polls_choice',
      'polls_question',
    ];
    for (const table of tables) await runner.dropTable(table);
  }
}
