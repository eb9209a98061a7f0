import type { MigrationInterface, QueryRunner, TableColumnOptions } from 'typeorm';
import { cascading, create, instantDefault, instantType, integerType, oneToOneName } from './tables.js';

/** The whole schema, for every database that TypeORM speaks to: no SQL of one of them is written here. */
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

    await create(runner, 'polls_question', [
      id,
      text('question_text', 200),
      { name: 'pub_date', type: instantType(runner), ...instantDefault(runner) },
    ]);
    await create(
      runner,
      'polls_choice',
      [id, text('choice_text', 200), { ...reference('votes'), default: 0 }, reference('questionId')],
      {
        foreignKeys: [cascading('questionId', 'polls_question')],
      },
    );

    await create(runner, 'lab_student', [id, text('name', 75), text('discipline', 20), text('program', 20)]);
    await create(
      runner,
      'lab_system',
      [id, text('name', 75), text('location', 20), { ...reference('studentId'), isNullable: true }],
      {
        foreignKeys: [cascading('studentId', 'lab_student')],
        unique: { name: oneToOneName(runner, 'lab_system', 'studentId'), columnNames: ['studentId'] },
      },
    );

    await create(runner, 'edu_student', [id, text('name', 75)]);
    await create(runner, 'edu_course', [id, text('name', 75)]);
    await create(runner, 'edu_enrollment', [id, reference('course_id'), reference('student_id')], {
      foreignKeys: [cascading('course_id', 'edu_course'), cascading('student_id', 'edu_student')],
      unique: { name: 'edu_enrollment_pair', columnNames: ['course_id', 'student_id'] },
    });
    await create(runner, 'edu_friendship', [id, reference('from_student_id'), reference('to_student_id')], {
      foreignKeys: [cascading('from_student_id', 'edu_student'), cascading('to_student_id', 'edu_student')],
      unique: { name: 'edu_friendship_pair', columnNames: ['from_student_id', 'to_student_id'] },
    });

    await create(runner, 'library_book', [id, text('title', 120)]);
    await create(runner, 'library_author', [id, text('name', 75)]);
    await create(
      runner,
      'library_book_authors',
      [
        { ...reference('libraryBookId'), isPrimary: true },
        { ...reference('libraryAuthorId'), isPrimary: true },
      ],
      {
        foreignKeys: [
          cascading('libraryBookId', 'library_book'),
          cascading('libraryAuthorId', 'library_author'),
        ],
      },
    );

    await create(runner, 'desk_ticket', [
      id,
      text('subject', 200),
      { name: 'body', type: 'text', default: "''" },
    ]);
    await create(runner, 'desk_comment', [id, text('text', 500), reference('ticketId')], {
      foreignKeys: [cascading('ticketId', 'desk_ticket')],
    });
    await create(runner, 'desk_agent', [id, text('name', 75)]);
    await create(
      runner,
      'desk_assignment',
      [id, { ...text('role', 20), default: "'helper'" }, reference('ticket_id'), reference('agent_id')],
      {
        foreignKeys: [cascading('ticket_id', 'desk_ticket'), cascading('agent_id', 'desk_agent')],
        unique: { name: 'desk_assignment_pair', columnNames: ['ticket_id', 'agent_id'] },
      },
    );

    await create(runner, 'club_member', [id, text('name', 75)]);
    await create(runner, 'club_event', [id, text('title', 75)]);
    await create(runner, 'club_payment', [id, reference('amount'), reference('memberId')], {
      foreignKeys: [cascading('memberId', 'club_member')],
    });
    await create(
      runner,
      'club_member_events',
      [
        { ...reference('clubMemberId'), isPrimary: true },
        { ...reference('clubEventId'), isPrimary: true },
      ],
      {
        foreignKeys: [cascading('clubMemberId', 'club_member'), cascading('clubEventId', 'club_event')],
      },
    );
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
