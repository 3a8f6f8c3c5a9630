-- Removes messages from a list of messages.
--
-- KEYS  1 the list: for each message its id, then its entry
-- ARGV  ids of the messages
-- Returns  how many of them the list had

local list = KEYS[1]
local found = 0
for _, id in ipairs(ARGV) do
  local place = redis.call('LPOS', list, id)
  if place then
    -- no two entries are equal: their times differ
    redis.call('LREM', list, 1, redis.call('LINDEX', list, place + 1))
    redis.call('LREM', list, 1, id)
    found = found + 1
  end
end
return found
