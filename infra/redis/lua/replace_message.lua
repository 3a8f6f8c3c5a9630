-- Replaces the text of one message of a list of messages; its id and its time stay.
--
-- KEYS  1 the list: for each message its id, then its entry
-- ARGV  1 the entry as it was read  2 the new entry
-- Returns  1 | 0 (the list has no such entry any more)

local place = redis.call('LPOS', KEYS[1], ARGV[1])
if not place then
  return 0
end
redis.call('LSET', KEYS[1], place, ARGV[2])
return 1
