"""The processes behind the front ends: command workers, scheduler, projection worker, mailer."""
