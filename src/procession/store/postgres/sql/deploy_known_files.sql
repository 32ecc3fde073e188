-- Which of these files without processes are stored already, by name and checksum.
select r.name, r.checksum
from procession.resource r
join procession.deployment p on p.key = r.deployment
where p.tenant = $1 and r.checksum = any($2::text[]) and r.name = any($3::text[])
